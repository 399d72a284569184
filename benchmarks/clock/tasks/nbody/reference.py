"""A step of bodies that attract each other."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw places and velocities of some length, so that the step changes both; positive masses."""
    n = case.dims["n"]
    pos, vel = (8 * rng.standard_normal((n, 4))).astype(np.float32), rng.standard_normal((n, 4)).astype(np.float32)
    pos[:, 3] = rng.uniform(0.5, 20, n)
    return {"pos": pos, "vel": vel}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return _step(inputs, np.dtype(np.float64))


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return _step(inputs, np.dtype(np.float32))


def _step(inputs: Tensors, dtype: np.dtype[np.floating]) -> dict[str, Array]:
    pos, vel, dt = inputs["pos"].astype(dtype), inputs["vel"].astype(dtype), np.float32(0.005).astype(dtype)
    force = np.zeros((pos.shape[0], 3), dtype)
    for body in pos:
        apart = body[:3] - pos[:, :3]
        distance = np.sqrt((apart**2).sum(axis=1) + dtype.type(50.0))
        force += (body[3] / distance**3)[:, None] * apart
    newpos, newvel = pos.copy(), vel.copy()
    newpos[:, :3] += vel[:, :3] * dt + force * dtype.type(0.5) * dt * dt
    newvel[:, :3] += force * dt
    return {"newpos": newpos, "newvel": newvel}
