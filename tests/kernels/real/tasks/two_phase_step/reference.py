"""A step of a lattice of two phases."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    side = d["nx"] + 1, d["ny"] + 1
    cells, pad = side[0] * side[1] * (d["nz"] + 1), side[0] * side[1] + side[0] + 1
    found = {name: rng.uniform(-1, 1, cells) for name in ("phi", "lap", "gx", "gy", "gz")}
    for group, count in (("f", 7), ("g", 19)):
        for i in range(count):
            found[f"{group}{i}_0"] = rng.uniform(0.5, 1, cells if i == 0 else 2 * cells + 4 * pad)
    return found


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    d = case.dims
    row, plane = d["nx"] + 1, (d["nx"] + 1) * (d["ny"] + 1)
    cells, pad = plane * (d["nz"] + 1), plane + row + 1
    here, there = slice(pad, pad + cells), 3 * pad + cells
    y = {name[:-2]: x.copy() for name, x in inputs.items() if name.endswith("_0")}
    phi, g0 = inputs["phi"], inputs["g0_0"]
    g = [g0, *(inputs[f"g{i}_0"][here] for i in range(1, 19))]
    mu = 0.04 * phi * (phi * phi - 1.5) - 0.06 * inputs["lap"]
    force = [mu * inputs[name] for name in ("gx", "gy", "gz")]
    rho = sum(g)
    u = [
        (sum(_part(way[axis]) * g[i + 1] for i, way in enumerate(_WAYS)) + 0.5 * force[axis]) / rho for axis in range(3)
    ]
    af, cf = 0.5 * 0.8 * mu * 0.7, 0.7 * 0.9 * phi
    y["f0"] = 0.3 * y["f0"] - 3 * 0.8 * mu * 0.7 + 0.7 * phi
    for i, way in enumerate(_WAYS[:6]):
        y[f"f{i + 1}"][here] = (
            0.3 * y[f"f{i + 1}"][here] + af + cf * sum(_part(w) * v for w, v in zip(way, u, strict=True))
        )
    ag, v = 3 * phi * mu + rho, 1.5 * sum(x * x for x in u)
    uf = sum(x * f for x, f in zip(u, force, strict=True))
    y["g0"] = 0.55 * g0 + 0.35 * ((rho - 6 * phi * mu) - rho * v) - 0.25 * uf
    for i, way in enumerate(_WAYS):
        eg, egc = (0.11, 0.13) if i < 6 else (0.15, 0.17)
        along = sum(_part(w) * x for w, x in zip(way, u, strict=True))
        pull = sum(_part(w) * f for w, f in zip(way, force, strict=True))
        both = eg * ag + eg * rho * (0.5 * along * along - v) + egc * (along * pull - uf)
        shift = way[0] + way[1] * row + way[2] * plane
        y[f"g{i + 1}"][there + shift : there + shift + cells] = 0.55 * g[i + 1] + both + eg * rho * along + egc * pull
    return y


_WAYS = (
    *((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)),
    *((1, 1, 0), (-1, -1, 0), (1, -1, 0), (-1, 1, 0), (1, 0, 1), (-1, 0, -1)),
    *((1, 0, -1), (-1, 0, 1), (0, 1, 1), (0, -1, -1), (0, 1, -1), (0, -1, 1)),
)


def _part(way: int) -> float:
    return float(way)
