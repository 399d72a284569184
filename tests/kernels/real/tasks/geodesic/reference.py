"""Geodesic distance."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Places of both hemispheres, never opposite."""
    n = case.dims["n"]
    lat = rng.uniform(-60, 60, (n, 2))
    lon = rng.uniform(-80, 80, (n, 2))
    return {"a": np.stack([lat[:, 0], lon[:, 0], lat[:, 1], lon[:, 1]], axis=1).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    f, major = 1 - 6356752.31424518 / 6378137.0, 6378137.0
    lat1, lon1, lat2, lon2 = np.radians(inputs["a"].astype(np.float64)).T
    u1, u2, far = np.arctan((1 - f) * np.tan(lat1)), np.arctan((1 - f) * np.tan(lat2)), lon2 - lon1
    lam = far.copy()
    for _ in range(30):
        s = np.hypot(np.cos(u2) * np.sin(lam), np.cos(u1) * np.sin(u2) - np.sin(u1) * np.cos(u2) * np.cos(lam))
        c = np.sin(u1) * np.sin(u2) + np.cos(u1) * np.cos(u2) * np.cos(lam)
        sigma, sa = np.arctan2(s, c), np.cos(u1) * np.cos(u2) * np.sin(lam) / s
        c2 = 1 - sa**2
        cm = c - 2 * np.sin(u1) * np.sin(u2) / c2
        k = f / 16 * c2 * (4 + f * (4 - 3 * c2))
        lam = far + (1 - k) * f * sa * (sigma + k * s * (cm + k * c * (2 * cm**2 - 1)))
    minor = major * (1 - f)
    uu = c2 * (major**2 - minor**2) / minor**2
    a = 1 + uu / 16384 * (4096 + uu * (-768 + uu * (320 - 175 * uu)))
    b = uu / 1024 * (256 + uu * (-128 + uu * (74 - 47 * uu)))
    turn = b * s * (cm + b / 4 * (c * (2 * cm**2 - 1) - b / 6 * cm * (4 * s**2 - 3) * (4 * cm**2 - 3)))
    found = minor * a * (sigma - turn)
    return {"c": found.astype(inputs["a"].dtype)}
