"""A block of an MLP-mixer: across the tokens, then across the channels."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, TOKENS, WIDTH = 4, 49, 64


class MixerBlock(nn.Module):
    def __init__(self, tokens=TOKENS, width=WIDTH):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed = nn.ModuleList([nn.Linear(tokens, 2 * tokens), nn.Linear(2 * tokens, tokens)])
        self.wide = nn.ModuleList([nn.Linear(width, 4 * width), nn.Linear(4 * width, width)])

    def forward(self, x):
        y = self.before(x).transpose(1, 2)
        x = x + self.mixed[1](F.gelu(self.mixed[0](y))).transpose(1, 2)
        return x + self.wide[1](F.gelu(self.wide[0](self.after(x))))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]
