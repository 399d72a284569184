"""Half-planes of velocities that avoid collisions."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Agents and obstacles apart, with velocities of any direction."""
    n, m = case.dims["n"], case.dims["m"]
    o = np.concatenate([rng.uniform(10, 30, (2, m)), rng.uniform(1, 3, (1, m))])
    return {
        "p": rng.uniform(0, 40, (2, n)).astype(np.float32),
        "v": rng.uniform(-1.4, 1.4, (2, n)).astype(np.float32),
        "o": o.astype(np.float32),
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
    x, v, o = inputs["p"], inputs["v"], inputs["o"]
    n, m = x.shape[1], o.shape[1]
    y = np.zeros((n, 210, 4), x.dtype)
    y[:, :m] = _of_obstacles(x, v, o)
    others = _of_agents(x, v)
    for i in range(n):
        y[i, m : m + n - 1] = np.delete(others[i], i, axis=0)
    return {"y": y, "count": np.full(n, m + n - 1, np.int32)}


def _of_obstacles(x: Array, v: Array, o: Array) -> Array:
    """Lines [n, m, 4] of agents outside and inside of discs, over a horizon of 5."""
    r = o[:2, None, :] - x[:, :, None]
    far = np.sqrt((r * r).sum(axis=0))
    both = o[2] + x.dtype.type(0.5)
    w = v[:, :, None] - r / 5
    length, cut = np.sqrt((w * w).sum(axis=0)), both / 5
    dot = (w * r).sum(axis=0)
    unit = w / length
    cap = np.stack([*(v[:, :, None] + (cut - length) * unit), unit[1], -unit[0]], axis=-1)
    leg = np.sqrt(np.maximum(far * far - both * both, 0)) / far
    sine = both / far
    left = r[0] * w[1] - r[1] * w[0] > 0
    d = np.where(left, _turned(r, leg, sine), -_turned(r, leg, -sine))
    d = d / np.sqrt((d * d).sum(axis=0))
    side = np.stack([*(d * (d * v[:, :, None]).sum(axis=0)), *d], axis=-1)
    nx = -r / far
    inside = np.stack([*(v[:, :, None] + nx * (both - far) * 10), -nx[1], nx[0]], axis=-1)
    outside = np.where(((dot < 0) & (dot * dot > cut * cut * length * length))[..., None], cap, side)
    return np.where((far <= both)[..., None], inside, outside)


def _of_agents(x: Array, v: Array) -> Array:
    """Lines [n, n, 4] of each two agents; those of one with itself mean nothing."""
    r, s = x[:, None, :] - x[:, :, None], v[:, :, None] - v[:, None, :]
    far = (r * r).sum(axis=0) + np.eye(x.shape[1], dtype=x.dtype)
    w = s - r / 5
    length, cut = np.sqrt((w * w).sum(axis=0)) + np.eye(x.shape[1], dtype=x.dtype), 0.2
    dot = (w * r).sum(axis=0)
    unit = w / length
    leg = np.sqrt(np.maximum(far - 1, 0))
    left = r[0] * w[1] - r[1] * w[0] > 0
    d = np.where(left, _turned(r, leg, np.ones_like(leg)), _turned(r, leg, -np.ones_like(leg))) / far
    turn = np.where(left, 1, -1).astype(x.dtype)
    along = (s * d).sum(axis=0) * d - s
    is_cap = (dot < 0) & (dot * dot > cut * cut * length * length)
    normal = np.where(is_cap, unit, np.stack([-d[1], d[0]]) * turn)
    push = np.where(is_cap, (cut - length) * unit, along)
    near = s - r * 20
    size = np.sqrt((near * near).sum(axis=0)) + np.eye(x.shape[1], dtype=x.dtype)
    normal = np.where(far > 1, normal, near / size)
    push = np.where(far > 1, push, (20 - size) * near / size)
    return np.stack([*(v[:, :, None] + push / 2), -normal[1], normal[0]], axis=-1)


def _turned(r: Array, cosine: Array, sine: Array) -> Array:
    return np.stack([r[0] * cosine - r[1] * sine, r[0] * sine + r[1] * cosine])
