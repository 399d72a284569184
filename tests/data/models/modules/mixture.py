"""A mixture of experts: the best two of four for each token, gathered by their places."""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, WIDTH, HIDDEN, EXPERTS, BEST = 96, 64, 128, 4, 2


class Mixture(nn.Module):
    def __init__(self, width=WIDTH, hidden=HIDDEN, experts=EXPERTS):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.ModuleList(nn.Linear(width, hidden) for _ in range(experts))
        self.down = nn.ModuleList(nn.Linear(hidden, width) for _ in range(experts))

    def forward(self, x):
        weights, chosen = torch.softmax(self.router(x), dim=-1).topk(BEST, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        y = torch.zeros_like(x)
        for number, (up, down) in enumerate(zip(self.up, self.down, strict=True)):
            tokens, rank = torch.where(chosen == number)
            y.index_add_(0, tokens, down(F.gelu(up(x[tokens]))) * weights[tokens, rank].unsqueeze(-1))
        return y


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]
