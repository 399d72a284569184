"""A step of a U-Net: group norm and SiLU, an embedding of the time, down and up again with a skip."""

import torch
import torch.nn.functional as F
from torch import nn

IMAGES, CHANNELS, SIDE, GROUPS = 2, 32, 32, 8


class UNetStep(nn.Module):
    def __init__(self, channels=CHANNELS):
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(GROUPS, channels) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.down = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.joined = nn.Conv2d(2 * channels, channels, 1)
        self.time = nn.Linear(channels, channels)

    def forward(self, x, t):
        rates = torch.exp(-torch.arange(CHANNELS // 2) * (9.2 / (CHANNELS // 2)))
        angles = t[:, None] * rates[None]
        shift = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        h = self.convs[0](F.silu(self.norms[0](x))) + shift[:, :, None, None]
        low = self.down(h)
        low = self.convs[1](F.silu(self.norms[1](low)))
        high = F.interpolate(low, scale_factor=2.0, mode="nearest")
        return self.joined(F.silu(torch.cat([self.norms[2](high), x], dim=1)))


def get_inputs():
    return [torch.randn(IMAGES, CHANNELS, SIDE, SIDE), torch.rand(IMAGES) * 1000]
