"""The references of the shipped operations against loops that follow their descriptions, one number after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.loader import load_task
from tasks.task import Array, Case, Task

Given = dict[str, Array]


def drawn(name: str, **dims: int) -> tuple[Task, Given, Given]:
    """The task, inputs in float64 for these dims, and what its reference makes of them."""
    task, case = load_task(name), Case("small", dims, 3)
    inputs = task.draw(case)
    return task, {n: a.astype(np.float64) for n, a in inputs.items()}, task.reference(inputs, case)


def sigmoid(u: float) -> float:
    return 1 / (1 + math.exp(-u))


def reduction(x: Array) -> Given:
    return {"y": np.array([math.fsum(x)])}


def scan(x: Array) -> Given:
    return {"y": np.array([list(itertools.accumulate(row)) for row in x])}


def layer_norm(x: Array, w: Array, b: Array) -> Given:
    rows = []
    for row in x:
        mean = math.fsum(row) / len(row)
        variance = math.fsum((v - mean) ** 2 for v in row) / len(row)
        rows.append([(v - mean) / math.sqrt(variance + float(np.float32(1e-5))) for v in row])
    return {"y": np.array(rows) * w + b}


def bias_gelu(x: Array, bias: Array) -> Given:
    inner = [[math.sqrt(2 / math.pi) * (v + 0.044715 * v**3) for v in row] for row in x + bias]
    return {"y": 0.5 * (x + bias) * (1 + np.tanh(np.array(inner)))}


def batched_gemv(a: Array, x: Array) -> Given:
    return {"y": np.array([[math.fsum(row * vector) for row in matrix] for matrix, vector in zip(a, x, strict=True)])}


def histogram(values: Array) -> Given:
    counts = np.zeros(17)
    for value in values:
        counts[int(value)] += 1
    return {"counts": counts}


def bf16_gemm(a: Array, b: Array) -> Given:
    return {"c": np.array([[math.fsum(row * column) for column in b] for row in a])}


def nearest_codeword(x: Array, codebook: Array) -> Given:
    distances = [[math.fsum((v - c) ** 2) for c in codebook] for v in x]
    for row in distances:
        least, second = sorted(row)[:2]
        assert second - least > 0.2  # as the description says
    return {"index": np.array([row.index(min(row)) for row in distances])}


def top_k(x: Array) -> Given:
    order = [sorted(range(len(row)), key=lambda j, row=row: (-row[j], j))[:3] for row in x]
    return {"value": np.array([row[o] for row, o in zip(x, order, strict=True)]), "index": np.array(order)}


def int4_gemm(x: Array, w: Array, scale: Array) -> Given:
    def weight(j: int, k: int) -> float:
        byte = int(w[j, k // 2])
        return ((byte & 15 if k % 2 == 0 else byte >> 4) - 8) * float(scale[j, k // 128])

    columns = [[weight(j, k) for k in range(x.shape[1])] for j in range(len(w))]
    return {"y": np.array([[math.fsum(row * np.array(column)) for column in columns] for row in x])}


def conv_nhwc(x: Array, w: Array) -> Given:
    batch, height, width, _ = x.shape
    y = np.zeros((batch, height, width, w.shape[3]))
    for b, r, c in np.ndindex(batch, height, width):
        for dr, dc in np.ndindex(3, 3):
            if 0 <= r + dr - 1 < height and 0 <= c + dc - 1 < width:
                y[b, r, c] += x[b, r + dr - 1, c + dc - 1] @ w[dr, dc]
    return {"y": y}


def mlp_backward(x: Array, w1: Array, w2: Array, dy: Array) -> Given:
    """By differences of sum(dy * y)."""

    def loss(one: Array, two: Array) -> float:
        return float(np.sum(dy * (np.vectorize(sigmoid)(x @ one.T) @ two.T)))

    found = {"dw1": np.zeros_like(w1), "dw2": np.zeros_like(w2)}
    for name, at in [("dw1", at) for at in np.ndindex(*w1.shape)] + [("dw2", at) for at in np.ndindex(*w2.shape)]:
        both = []
        for step in (1e-5, -1e-5):
            one, two = w1.copy(), w2.copy()
            (one if name == "dw1" else two)[at] += step
            both.append(loss(one, two))
        found[name][at] = (both[0] - both[1]) / 2e-5
    return found


def decode_attention(q: Array, kv: Array) -> Given:
    y = np.zeros((*q.shape[:2], 32))
    for b, g in np.ndindex(*q.shape[:2]):
        scores = [math.fsum(q[b, g] * place) * float(np.float32(192**-0.5)) for place in kv[b]]
        weights = [math.exp(score - max(scores)) for score in scores]
        y[b, g] = sum(p * place[:32] for p, place in zip(weights, kv[b], strict=True)) / math.fsum(weights)
    return {"y": y}


def moe_ffn(x: Array, logits: Array, w1: Array, w2: Array) -> Given:
    y = np.zeros_like(x)
    for t, row in enumerate(logits):
        first, second = sorted(range(len(row)), key=lambda e, row=row: -row[e])[:2]
        share = sigmoid(row[first] - row[second])
        for expert, part in ((first, share), (second, 1 - share)):
            hidden = np.array([u * sigmoid(u) for u in w1[expert] @ x[t]])
            y[t] += part * (w2[expert] @ hidden)
    return {"y": y}


@pytest.mark.parametrize(
    ("answer", "dims"),
    [
        (reduction, {"n": 100}),
        (scan, {"rows": 3, "cols": 20}),
        (layer_norm, {"rows": 4, "cols": 9}),
        (bias_gelu, {"rows": 4, "cols": 9}),
        (batched_gemv, {"batch": 2, "m": 3, "k": 5}),
        (histogram, {"n": 200, "bins": 17}),
        (bf16_gemm, {"m": 3, "n": 4, "k": 32}),
        (nearest_codeword, {"rows": 40, "codes": 37, "width": 9}),
        (top_k, {"rows": 3, "cols": 20, "k": 3}),
        (int4_gemm, {"m": 2, "n": 3, "k": 256}),
        (conv_nhwc, {"batch": 2, "height": 3, "width": 4, "channels": 2, "filters": 3}),
        (mlp_backward, {"batch": 3, "inputs": 4, "hidden": 5, "outputs": 2}),
        (decode_attention, {"batch": 2, "heads": 2, "length": 7, "latent": 32, "rope": 32}),
        (moe_ffn, {"tokens": 6, "width": 3, "hidden": 4, "experts": 5}),
    ],
)
def test_the_reference_does_what_the_description_says(answer: Callable[..., Given], dims: dict[str, Any]) -> None:
    _, inputs, found = drawn(answer.__name__, **dims)
    wanted = answer(**inputs)
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-6, atol=1e-8)
