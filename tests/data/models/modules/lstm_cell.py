"""An LSTM cell, unrolled over a few steps."""

import torch
from torch import nn

BATCH, WIDTH, STEPS = 32, 64, 4


class Cell(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.inner, self.recurrent = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width, bias=False)

    def forward(self, x, h, c):
        for step in x.unbind(0):
            i, f, g, o = (self.inner(step) + self.recurrent(h)).chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


def get_inputs():
    return [torch.randn(STEPS, BATCH, WIDTH), torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)]
