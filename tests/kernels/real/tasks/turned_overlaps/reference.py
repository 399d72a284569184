"""Overlaps of turned boxes."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""

    def boxes(count: int) -> Array:
        place = rng.uniform(-3, 3, (count, 3))
        return np.concatenate([place, rng.uniform(1, 6, (count, 3)), rng.uniform(-3, 3, (count, 1))], axis=1)

    return {"a": boxes(case.dims["n"]).astype(np.float32), "b": boxes(case.dims["m"]).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    a, b = inputs["a"][:, None], inputs["b"][None]
    kind = a.dtype.type
    p, q = _corners(a), _corners(b)
    points, valid = _crossings(p, q)
    shape = (*points.shape[:2], 4, 2)
    inside = [_is_inside(a, q), _is_inside(b, p)]
    points = np.concatenate([points, np.broadcast_to(q, shape), np.broadcast_to(p, shape)], axis=2)
    valid = np.concatenate([valid, *inside], axis=2)
    count = valid.sum(axis=2)
    held = np.where(valid[..., None], points, 0)
    centre = held.sum(axis=2) / np.maximum(count, 1)[..., None].astype(kind)
    away = held - centre[:, :, None]
    angle = np.where(valid, np.arctan2(away[..., 1], away[..., 0]), np.inf)
    order = np.argsort(angle, axis=2, kind="stable")
    held = np.take_along_axis(held, order[..., None], axis=2)
    edge = held - held[:, :, :1]
    parts = edge[:, :, :-1, 0] * edge[:, :, 1:, 1] - edge[:, :, :-1, 1] * edge[:, :, 1:, 0]
    parts = np.where(np.arange(1, held.shape[2]) < count[..., None], parts, 0)
    return {"y": np.abs(parts.sum(axis=2)) / kind(2)}


def _corners(box: Array) -> Array:
    """The four corners of each box, in order around it."""
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], box.dtype)
    x, y = np.moveaxis(signs * box[..., None, 3:5] / box.dtype.type(2), -1, 0)
    cos, sin = np.cos(box[..., None, 6]), np.sin(box[..., None, 6])
    return np.stack([x * cos + y * sin, y * cos - x * sin], axis=-1) + box[..., None, :2]


def _is_inside(box: Array, points: Array) -> Array:
    """Whether points lie in a box of the opposite heading, or 0.01 around it."""
    x, y = np.moveaxis(points - box[..., None, :2], -1, 0)
    cos, sin = np.cos(box[..., None, 6]), np.sin(box[..., None, 6])
    half = box[..., None, 3:5] / box.dtype.type(2) + box.dtype.type(0.01)
    return (np.abs(x * cos + y * sin) < half[..., 0]) & (np.abs(y * cos - x * sin) < half[..., 1])


def _crossings(p: Array, q: Array) -> tuple[Array, Array]:
    """Where each side of p meets each side of q, 16 places, and whether it does."""

    def cross(u: Array, v: Array, w: Array) -> Array:
        one, two = u - w, v - w
        return one[..., 0] * two[..., 1] - two[..., 0] * one[..., 1]

    p0, q0 = np.broadcast_arrays(p[..., :, None, :], q[..., None, :, :])
    p1, q1 = np.broadcast_arrays(np.roll(p, -1, axis=-2)[..., :, None, :], np.roll(q, -1, axis=-2)[..., None, :, :])
    s1, s2, s3, s4 = cross(q0, p1, p0), cross(p1, q1, p0), cross(p0, q1, q0), cross(q1, p1, q0)
    s5 = cross(q1, p1, p0)
    meets = (s1 * s2 > 0) & (s3 * s4 > 0)
    divisor = np.where(meets, s5 - s1, 1)[..., None]
    points = (s5[..., None] * q0 - s1[..., None] * q1) / divisor
    return points.reshape(*points.shape[:2], 16, 2), meets.reshape(*meets.shape[:2], 16)
