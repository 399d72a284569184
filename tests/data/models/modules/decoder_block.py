"""A decoder block: RMS norm, rotary embedding, grouped queries, SwiGLU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, HEADS, GROUPS, HIDDEN = 2, 64, 128, 8, 2, 352


def rotated(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class DecoderBlock(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, groups=GROUPS, hidden=HIDDEN):
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, width // heads
        self.before, self.after = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.queries = nn.Linear(width, width, bias=False)
        self.keys = nn.Linear(width, groups * self.head, bias=False)
        self.values = nn.Linear(width, groups * self.head, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin):
        h = self.before(x)
        q = self.queries(h).unflatten(-1, (self.heads, self.head)).transpose(1, 2)
        k = self.keys(h).unflatten(-1, (self.groups, self.head)).transpose(1, 2)
        v = self.values(h).unflatten(-1, (self.groups, self.head)).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k = k.repeat_interleave(self.heads // self.groups, dim=1)
        v = v.repeat_interleave(self.heads // self.groups, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        h = self.after(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def get_inputs():
    head = WIDTH // HEADS
    angles = torch.outer(torch.arange(LENGTH), 10000.0 ** (-torch.arange(0, head, 2) / head)).repeat(1, 2)
    return [torch.randn(BATCH, LENGTH, WIDTH), angles.cos(), angles.sin()]
