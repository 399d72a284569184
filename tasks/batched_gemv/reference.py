"""Matrix-vector products of a batch."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, an outlier at a random place of every row of a and of x."""
    batch, m, k = (case.dims[name] for name in ("batch", "m", "k"))
    a = rng.standard_normal((batch, m, k), dtype=np.float32)
    x = rng.standard_normal((batch, k), dtype=np.float32)
    np.put_along_axis(a, rng.integers(k, size=(batch, m, 1)), rng.uniform(4, 8, (batch, m, 1)).astype(np.float32), 2)
    x[np.arange(batch), rng.integers(k, size=batch)] *= np.float32(4)
    return {"a": a, "x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64."""
    return {"y": np.einsum("bik,bk->bi", inputs["a"].astype(np.float64), inputs["x"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32, one term after the other."""
    a, x = inputs["a"], inputs["x"]
    total = np.zeros(a.shape[:2], np.float32)
    for k in range(a.shape[2]):
        total += a[:, :, k] * x[:, k, None]
    return {"y": total}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Sums that nearly cancel, and batches of very different scale."""
    a, x = inputs["a"], inputs["x"]
    turned = a.copy()
    turned[:, :, 1::2] = -a[:, :, : a.shape[2] // 2 * 2 : 2]
    flat = x.copy()
    flat[:, 1::2] = x[:, : x.shape[1] // 2 * 2 : 2] * np.float32(1.125)
    scale = (10.0 ** rng.uniform(-3, 3, (len(x), 1))).astype(np.float32)
    return {"cancelling": {"a": turned, "x": flat}, "scaled": {"a": a, "x": x * scale}}
