"""3 x 3 convolution of images with the channels last."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, an outlier in every pixel."""
    batch, height, width, channels, filters = (
        case.dims[n] for n in ("batch", "height", "width", "channels", "filters")
    )
    x = rng.standard_normal((batch, height, width, channels), dtype=np.float32)
    at = rng.integers(channels, size=(batch, height, width, 1))
    np.put_along_axis(x, at, rng.uniform(2, 4, at.shape).astype(np.float32), 3)
    return {"x": x, "w": rng.standard_normal((3, 3, channels, filters), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _convolved(inputs["x"].astype(np.float64), inputs["w"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one channel after the other."""
    x, w = inputs["x"], inputs["w"]
    total = np.zeros((*x.shape[:3], w.shape[3]), np.float32)
    for moved, weights in _places(x, w):
        for channel in range(x.shape[3]):
            total += moved[..., channel, None] * weights[channel]
    return {"y": total}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make images that rise towards one corner, and filters that take neighbours from each other."""
    x, w = inputs["x"], inputs["w"]
    rise = np.arange(x.shape[1])[:, None, None] + 2 * np.arange(x.shape[2])[:, None] + np.ones(x.shape[3])
    turned = w.copy()
    turned[:, 2] = -w[:, 0]
    return {"ramps": {"x": (x + rise).astype(np.float32), "w": w}, "cancelling": {"x": x, "w": turned}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take other borders, a filter turned over, one place of nine left out."""
    x, w = inputs["x"], inputs["w"]
    edge = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    corner = w.copy()
    corner[2, 2] = 0
    found = {
        "the border repeated": _convolved(edge, w)[:, 1:-1, 1:-1],
        "the filter turned over": _convolved(x, w[::-1, ::-1]),
        "rows and columns of the filter swapped": _convolved(x, w.transpose(1, 0, 2, 3)),
        "no last corner": _convolved(x, corner),
    }
    return {name: {"y": y} for name, y in found.items()}


def _convolved(x: Array, w: Array) -> Array:
    total = np.zeros((*x.shape[:3], w.shape[3]), x.dtype)
    for moved, weights in _places(x, w):
        total += moved @ weights
    return total


def _places(x: Array, w: Array) -> list[tuple[Array, Array]]:
    """Return the image as each of the nine places of a filter sees it, with that place's weights."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = x.shape[1:3]
    return [(padded[:, r : r + height, c : c + width], w[r, c]) for r in range(3) for c in range(3)]
