"""An encoder as PyTorch ships it, behind an embedding, with padding masked."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH, VOCABULARY = 4, 32, 64, 1000


class Encoder(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(LENGTH, width)
        self.norm = nn.LayerNorm(width)
        self.queries, self.keys, self.values = (nn.Linear(width, width) for _ in range(3))
        self.out, self.up, self.down = nn.Linear(width, width), nn.Linear(width, 256), nn.Linear(256, width)
        self.after = nn.LayerNorm(width)

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        q, k, v = self.queries(x), self.keys(x), self.values(x)
        scores = (q @ k.mT / WIDTH**0.5).masked_fill(~mask[:, None, :], float("-inf"))
        x = self.after(x + self.out(torch.softmax(scores, -1) @ v))
        return self.down(torch.tanh(self.up(x)))


def get_inputs():
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    return [torch.randint(0, VOCABULARY, (BATCH, LENGTH)), mask]
