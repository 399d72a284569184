"""A vision block: patches by a convolution, attention with a scale a channel, GELU."""

import torch
import torch.nn.functional as F
from torch import nn

IMAGES, SIDE, PATCH, WIDTH, HEADS = 2, 64, 8, 96, 4


class VisionBlock(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS):
        super().__init__()
        self.heads = heads
        self.patches = nn.Conv2d(3, width, PATCH, stride=PATCH)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, dim=-1) @ v
        x = x + self.scale * self.out(y.transpose(1, 2).flatten(2))
        return x + self.scale * self.down(F.gelu(self.up(self.after(x))))


def get_inputs():
    return [torch.randn(IMAGES, 3, SIDE, SIDE)]
