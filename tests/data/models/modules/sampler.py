"""A sampler: temperature, the best k, the nucleus, and the word of a drawn number."""

import torch
from torch import nn

ROWS, WORDS, BEST = 8, 4096, 64


class Sampler(nn.Module):
    def forward(self, logits, temperature, drawn):
        values, places = (logits / temperature[:, None]).topk(BEST, dim=-1)
        shares = torch.softmax(values, dim=-1)
        total = torch.cumsum(shares, dim=-1)
        shares = shares.masked_fill(total - shares > 0.9, 0.0)
        bounds = torch.cumsum(shares / shares.sum(-1, keepdim=True), dim=-1)
        rank = (bounds < drawn[:, None]).sum(-1, keepdim=True).clamp(max=BEST - 1)
        return places.gather(-1, rank).squeeze(-1)


def get_inputs():
    return [torch.randn(ROWS, WORDS), torch.full((ROWS,), 0.7), torch.rand(ROWS)]
