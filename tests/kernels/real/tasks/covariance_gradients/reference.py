"""Gradients of the shapes of Gaussians."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    q = rng.standard_normal((n, 4), dtype=np.float32)
    q[:, 0] += np.where(q[:, 0] < 0, -1, 1)
    return {
        "q": q,
        "s": rng.uniform(0.5, 2, (n, 3)).astype(np.float32),
        "dc": rng.standard_normal((n, 3, 3), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    length = np.sqrt((inputs["q"] ** 2).sum(axis=1, keepdims=True))
    unit, s = inputs["q"] / length, inputs["s"][:, None]
    w, x, y, z = unit.T
    one = np.ones_like(w)
    first = np.stack([one - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    second = np.stack([2 * (x * y + w * z), one - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    third = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), one - 2 * (x * x + y * y)], axis=1)
    r = np.stack([first, second, third], axis=1)
    dm = (inputs["dc"] + inputs["dc"].swapaxes(1, 2)) @ (r * s)
    g = (dm * s).transpose(1, 2, 0)
    du = 2 * np.stack(
        [
            x * (g[2, 1] - g[1, 2]) + y * (g[0, 2] - g[2, 0]) + z * (g[1, 0] - g[0, 1]),
            -2 * x * (g[1, 1] + g[2, 2]) + y * (g[1, 0] + g[0, 1]) + z * (g[2, 0] + g[0, 2]) + w * (g[2, 1] - g[1, 2]),
            x * (g[1, 0] + g[0, 1]) - 2 * y * (g[0, 0] + g[2, 2]) + z * (g[2, 1] + g[1, 2]) + w * (g[0, 2] - g[2, 0]),
            x * (g[2, 0] + g[0, 2]) + y * (g[2, 1] + g[1, 2]) - 2 * z * (g[0, 0] + g[1, 1]) + w * (g[1, 0] - g[0, 1]),
        ],
        axis=1,
    )
    dq = (du - (du * unit).sum(axis=1, keepdims=True) * unit) / length
    return {"dq": dq, "ds": (r * dm).sum(axis=1)}
