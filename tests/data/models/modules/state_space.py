"""A selective state-space block, its recurrence as sums of logarithms along the sequence."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, STATES = 2, 48, 64, 8


class StateSpace(nn.Module):
    def __init__(self, width=WIDTH, states=STATES):
        super().__init__()
        self.states = states
        self.inner = nn.Linear(width, 2 * width, bias=False)
        self.taps = nn.Conv1d(width, width, 4, groups=width, padding=3)
        self.selected = nn.Linear(width, 2 * states + 1, bias=False)
        self.step = nn.Linear(1, width)
        self.rates = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(width, 1))
        self.skip = nn.Parameter(torch.ones(width))
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, u):
        x, z = self.inner(u).chunk(2, dim=-1)
        x = F.silu(self.taps(x.transpose(1, 2))[..., : u.shape[1]].transpose(1, 2))
        b, c, d = self.selected(x).split([self.states, self.states, 1], dim=-1)
        d = F.softplus(self.step(d))
        decay = -d.unsqueeze(-1) * torch.exp(self.rates)
        total = torch.cumsum(decay, dim=1)
        driven = (d * x).unsqueeze(-1) * b.unsqueeze(2)
        h = torch.exp(total) * torch.cumsum(driven * torch.exp(-total.clamp(min=-20)), dim=1)
        y = (h * c.unsqueeze(2)).sum(-1) + self.skip * x
        return self.out(y * F.silu(z))


def get_inputs():
    return [torch.randn(BATCH, LENGTH, WIDTH)]
