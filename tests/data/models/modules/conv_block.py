"""A residual block of convolutions with batch norm."""

import torch
from torch import nn

IMAGES, CHANNELS, SIDE = 2, 32, 28


class ConvBlock(nn.Module):
    def __init__(self, channels=CHANNELS):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        y = torch.relu(self.norms[0](self.first(x)))
        return self.pool(torch.relu(self.norms[1](self.second(y)) + x))


def get_inputs():
    return [torch.randn(IMAGES, CHANNELS, SIDE, SIDE)]
