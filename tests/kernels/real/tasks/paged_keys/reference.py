"""Keys normalised, rotated and kept in pages of bytes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Signs, weights that e4m3 has, the largest of each group 256, and turns by right angles: no rounding is near."""
    b = case.dims["b"]
    pages = -(-b // 64)
    w = rng.integers(16, 0x78, 512).astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    w[::64] = 256
    f = np.zeros((32, 32, 2), np.float32)
    np.put_along_axis(f, rng.integers(0, 2, (32, 32, 1)), rng.choice([-1, 1], (32, 32, 1)), axis=2)
    return {
        "kv": rng.choice([-1, 1], (b, 512)).astype(np.float32),
        "w": w,
        "f": f.reshape(32, 64),
        "at": rng.integers(0, 32, b).astype(np.int32),
        "slots": rng.permutation(64 * pages)[:b].astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["kv"].astype(np.float64)
    d = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * inputs["w"].astype(np.float64)
    y = np.zeros((-(-x.shape[0] // 64), 37440), np.uint8)
    page, slot = inputs["slots"] // 64, inputs["slots"] % 64
    groups = d[:, :448].reshape(-1, 7, 64)
    raw = np.maximum(1e-4, np.abs(groups).max(axis=2)) / 448
    scale = np.ceil(np.log2(raw)).astype(np.int64)
    codes = (groups / 2.0 ** scale[..., None]).astype(np.float32).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    f = inputs["f"].astype(np.float64)[inputs["at"]]
    re, im = d[:, 448::2], d[:, 449::2]
    rotated = np.stack([re * f[:, ::2] - im * f[:, 1::2], re * f[:, 1::2] + im * f[:, ::2]], axis=-1)
    words = rotated.reshape(-1, 64).astype(np.float32).astype(ml_dtypes.bfloat16).view(np.uint8)
    for i in range(x.shape[0]):
        start = 576 * slot[i]
        y[page[i], start : start + 448] = codes[i].reshape(-1)
        y[page[i], start + 448 : start + 576] = words[i]
        y[page[i], 36864 + 8 * slot[i] : 36864 + 8 * slot[i] + 7] = scale[i] + 127
    return {"y": y}
