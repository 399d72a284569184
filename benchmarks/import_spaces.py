"""Takes measured spaces out of the FAIR Benchmark Hub for Auto-Tuning, thinned to about a thousand points each.

    python -m benchmarks.import_spaces FOLDER

FOLDER is a checkout of github.com/AutoTuningAssociation/benchmark_hub (DOI 10.5281/zenodo.15364124). The
thinning goes by the lists of values; the share of good points of three spaces was known when it was chosen.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.spaces import Space, save

HUB = "FAIR Benchmark Hub for Auto-Tuning, MIT License, Copyright (c) 2025 AutoTuningAssociation"
_OLD = "currently_unused/cachefiles/KernelTuner data"


@dataclass(frozen=True)
class Thinned:
    """One cache file of the hub and the values that stay."""

    path: str
    choices: Mapping[str, frozenset[int]]
    expressions: tuple[str, ...]  # threads, tiles and operands of the restrictions in the hub's tuning scripts
    equal: tuple[tuple[str, str], ...] = ()  # tunables that must have the same value


_TILES = ("block_size_x * block_size_y", "block_size_x * tile_size_x", "block_size_y * tile_size_y")
_DEDISPERSION = {
    "block_size_y": frozenset(range(32, 257, 32)),
    "tile_size_x": frozenset({1, 2, 4}),
    "tile_size_y": frozenset({1, 2, 4, 8}),
}
_CONVOLUTION = {"block_size_x": frozenset({16, 32, 64, 128, 256}), "tile_size_x": frozenset({1, 2, 4})}
_POLYGON = {"block_size_x": frozenset({32, 64, 128, 256, 384, 512, 768, 992})}
THINNED = {
    "pnpoly_rtx3090": Thinned(f"{_OLD}/pnpoly/RTX_3090.json.gz", _POLYGON, ("block_size_x * tile_size",)),
    "dedispersion_mi250x": Thinned("cachefiles/dedispersion_milo/MI250X.json.gz", _DEDISPERSION, _TILES),
    "convolution_mi250x": Thinned("cachefiles/convolution_milo/MI250X.json.gz", _CONVOLUTION, _TILES),
    "convolution_a100": Thinned("cachefiles/convolution_milo/A100.json.gz", _CONVOLUTION, _TILES),
    "gemm_rtx3090": Thinned(
        f"{_OLD}/gemm/RTX_3090.json.gz",
        {"VWM": frozenset({1, 2, 4}), "VWN": frozenset({1, 2, 4})},
        ("MDIMC * NDIMC", "MDIMC * VWM", "NDIMC * VWN"),
        (("MDIMA", "MDIMC"), ("NDIMB", "NDIMC"), ("SA", "SB")),
    ),
}


def thinned(name: str, folder: Path) -> Space:
    """Read one space; times are stored in microseconds, a point without one was refused there."""
    rule = THINNED[name]
    hub: dict[str, Any] = json.loads(gzip.decompress((folder / rule.path).read_bytes()))
    tied = {second for _, second in rule.equal}
    names = [n for n in hub["tune_params_keys"] if len(hub["tune_params"][n]) > 1 and n not in tied]
    rows = [
        row
        for row in hub["cache"].values()
        if all(row[n] in choices for n, choices in rule.choices.items())
        and all(row[a] == row[b] for a, b in rule.equal)
    ]
    return Space(
        name,
        f"measured, {rule.path}; {HUB}",
        tuple(names),
        tuple(tuple(int(row[n]) for n in names) for row in rows),
        tuple(None if isinstance(row["time"], str) else 1e3 * row["time"] for row in rows),
        rule.expressions,
    )


def main(arguments: list[str]) -> int:
    """Store all of them, or those named behind the folder."""
    folder, *names = arguments
    for name in names or THINNED:
        space = thinned(name, Path(folder))
        save(space)
        print(f"{name}: {len(space.points)} points, {sum(t is None for t in space.times_us)} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
