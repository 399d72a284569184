"""Recurrent layers as one operation for each layer and direction. In the import's own process only.

PyTorch takes a step for each place of a sequence, so a longer sequence would be another graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from imports.refusal import ImportRefused

LIBRARY = torch.library.Library("imports", "DEF")
LAYERS = {"lstm": "lstm_steps", "gru": "gru_steps", "rnn_tanh": "tanh_steps", "rnn_relu": "relu_steps"}
Step = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, ...]]


def _lstm(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    i, f, g, o = (given + h @ w.t() + b).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    (r, z, n), (rh, zh, nh) = given.chunk(3, -1), (h @ w.t() + b).chunk(3, -1)
    new = (n + (r + rh).sigmoid() * nh).tanh()
    return new + (z + zh).sigmoid() * (h - new), c


def _tanh(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    return (given + h @ w.t() + b).tanh(), c


def _relu(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    return (given + h @ w.t() + b).relu(), c


def _define(name: str, step: Step) -> None:
    """Define an operation over `[time, batch, gates]` that returns all h, the last h and the last c."""
    LIBRARY.define(f"{name}(Tensor given, Tensor h, Tensor c, Tensor w, Tensor b) -> (Tensor, Tensor, Tensor)")

    def compute(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        found = []
        for row in given:
            h, c = step(row, h, c, w, b)
            found.append(h)
        return torch.stack(found), h.clone(), c.clone()

    def shaped(given: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        return h.new_empty((given.shape[0], *h.shape)), torch.empty_like(h), torch.empty_like(c)

    LIBRARY.impl(name, compute, "CPU")
    LIBRARY.impl(name, shaped, "Meta")


for _name, _step in (("lstm_steps", _lstm), ("gru_steps", _gru), ("tanh_steps", _tanh), ("relu_steps", _relu)):
    _define(_name, _step)


def step_by_step() -> None:
    """Have the modules of PyTorch call the operations; its cells are ordinary operations already."""
    for name in LAYERS:
        setattr(torch._VF, name, functools.partial(_layers, name))


def _layers(
    name: str,
    x: torch.Tensor,
    start: Any,
    weights: Sequence[torch.Tensor],
    has_biases: Any,
    layers: int,
    dropout: float,
    train: bool,
    both_ways: bool,
    batch_first: Any = None,
) -> tuple[torch.Tensor, ...]:
    """Compute the results of `torch.lstm` and its like for a padded sequence."""
    if isinstance(has_biases, (list, tuple)):
        raise ImportRefused("it runs a recurrent layer on a packed sequence, whose sizes are values of its inputs")
    if dropout and train:
        raise ImportRefused("it uses dropout in training mode (between recurrent layers), so its result varies")
    h, c = start if name == "lstm" else (start, start)
    ways, each = (2 if both_ways else 1), len(weights) // (layers * (2 if both_ways else 1))
    if each not in (2, 4):
        raise ImportRefused("its LSTM projects its state (proj_size), which has no translation to NumPy yet")
    x = x.transpose(0, 1) if batch_first else x
    ends = []
    for layer in range(layers):
        found = []
        for way in range(ways):
            at = layer * ways + way
            own = weights[at * each : (at + 1) * each]
            given = (x.flip(0) if way else x) @ own[0].t() + (own[2] if has_biases else 0)
            bias = own[3] if has_biases else torch.zeros_like(own[1][:, 0])
            operation = getattr(torch.ops.imports, LAYERS[name])
            made, last_h, last_c = operation(given, h[at], c[at], own[1], bias)
            found.append(made.flip(0) if way else made)
            ends.append((last_h, last_c))
        x = torch.cat(found, -1) if both_ways else found[0]
    x = x.transpose(0, 1) if batch_first else x
    states = [torch.stack(list(each)) for each in zip(*ends, strict=True)]
    return (x, *(states if name == "lstm" else states[:1]))
