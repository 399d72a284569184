"""Matrix-vector products of a batch."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

LANES = 64  # of a wave, each with a sum of its own


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, an outlier at a random place of every row of a and of x."""
    batch, m, k = (case.dims[name] for name in ("batch", "m", "k"))
    a = rng.standard_normal((batch, m, k), dtype=np.float32)
    x = rng.standard_normal((batch, k), dtype=np.float32)
    np.put_along_axis(a, rng.integers(k, size=(batch, m, 1)), rng.uniform(4, 8, (batch, m, 1)).astype(np.float32), 2)
    x[np.arange(batch), rng.integers(k, size=batch)] *= np.float32(4)
    return {"a": a, "x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": np.einsum("bik,bk->bi", inputs["a"].astype(np.float64), inputs["x"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, in three usual orders, of which each element takes the least exact.

    One term after the other, by two accumulators, by a wave's lanes: terms that cancel are neighbours to one of them.
    """
    a, x = inputs["a"], inputs["x"]
    total, halves, lanes = (np.zeros((n, *a.shape[:2]), np.float32) for n in (1, 2, LANES))
    for k in range(a.shape[2]):
        term = a[:, :, k] * x[:, k, None]
        for parts in (total, halves, lanes):
            parts[k % len(parts)] += term
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    sums = np.stack([total[0], halves[0] + halves[1], lanes[0]])
    worst = np.abs(sums - reference(inputs, case)["y"]).argmax(axis=0)
    return {"y": np.take_along_axis(sums, worst[None], axis=0)[0]}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make sums that nearly cancel, and batches of very different scale."""
    a, x = inputs["a"], inputs["x"]
    turned = a.copy()
    turned[:, :, 1::2] = -a[:, :, : a.shape[2] // 2 * 2 : 2]
    flat = x.copy()
    flat[:, 1::2] = x[:, : x.shape[1] // 2 * 2 : 2] * np.float32(1.125)
    scale = (10.0 ** rng.uniform(-3, 3, (len(x), 1))).astype(np.float32)
    return {"cancelling": {"a": turned, "x": flat}, "scaled": {"a": a, "x": x * scale}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Return one batch's operand for all, and operands or sums with fewer digits than float32 has."""
    a, x = inputs["a"], inputs["x"]
    y = np.einsum("bik,bk->bi", a, x)
    narrow = [v.astype(ml_dtypes.bfloat16).astype(np.float32) for v in (a, x)]
    found = {
        "the first batch's vector": np.einsum("bik,k->bi", a, x[0]),
        "the first batch's matrix": np.einsum("ik,bk->bi", a[0], x),
        "operands in bfloat16": np.einsum("bik,bk->bi", *narrow),
        "sums in bfloat16": y.astype(ml_dtypes.bfloat16).astype(np.float32),
        "sums in float16": y.astype(np.float16).astype(np.float32),
        "the sum of magnitudes": np.einsum("bik,bk->bi", np.abs(a), np.abs(x)),
    }
    return {name: {"y": made} for name, made in found.items()}
