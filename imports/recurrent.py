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


def _lstm(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    i, f, g, o = (gates + h @ w.t() + b).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    (r, z, n), (rh, zh, nh) = gates.chunk(3, -1), (h @ w.t() + b).chunk(3, -1)
    new = (n + (r + rh).sigmoid() * nh).tanh()
    return new + (z + zh).sigmoid() * (h - new), c


def _tanh(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    return (gates + h @ w.t() + b).tanh(), c


def _relu(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    return (gates + h @ w.t() + b).relu(), c


def _define(name: str, step: Step) -> None:
    """Define an operation over `[time, batch, gates]` that returns all h, the last h and the last c."""
    LIBRARY.define(f"{name}(Tensor given, Tensor h, Tensor c, Tensor w, Tensor b) -> (Tensor, Tensor, Tensor)")

    def compute(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        states = []
        for row in gates:
            h, c = step(row, h, c, w, b)
            states.append(h)
        return torch.stack(states), h.clone(), c.clone()

    def shaped(gates: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        return h.new_empty((gates.shape[0], *h.shape)), torch.empty_like(h), torch.empty_like(c)

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
    directions, weight_count = (2 if both_ways else 1), len(weights) // (layers * (2 if both_ways else 1))
    if weight_count not in (2, 4):
        raise ImportRefused("its LSTM projects its state (proj_size), which has no translation to NumPy yet")
    x = x.transpose(0, 1) if batch_first else x
    ends = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            layer_weights = weights[index * weight_count : (index + 1) * weight_count]
            gates = (x.flip(0) if direction else x) @ layer_weights[0].t() + (layer_weights[2] if has_biases else 0)
            bias = layer_weights[3] if has_biases else torch.zeros_like(layer_weights[1][:, 0])
            operation = getattr(torch.ops.imports, LAYERS[name])
            sequence, last_h, last_c = operation(gates, h[index], c[index], layer_weights[1], bias)
            outputs.append(sequence.flip(0) if direction else sequence)
            ends.append((last_h, last_c))
        x = torch.cat(outputs, -1) if both_ways else outputs[0]
    x = x.transpose(0, 1) if batch_first else x
    states = [torch.stack(list(layer_ends)) for layer_ends in zip(*ends, strict=True)]
    return (x, *(states if name == "lstm" else states[:1]))
