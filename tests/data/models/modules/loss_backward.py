"""A loss with its backward half: cross-entropy over a projection, and the gradients of its weights and input."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, WORDS = 64, 64, 512


class LossBackward(nn.Module):
    def __init__(self, width=WIDTH, words=WORDS):
        super().__init__()
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x, target):
        x = x.detach().requires_grad_()
        loss = F.cross_entropy(self.head(F.gelu(self.norm(x))), target)
        gradients = torch.autograd.grad(loss, [x, self.head.weight, self.norm.weight])
        return loss, *gradients


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randint(0, WORDS, (ROWS,))]
