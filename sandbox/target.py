"""A GPU one optimises for, read from `sandbox/targets/NAME.toml`: all figures are data that can be overridden."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from records.errors import UsageError

FOLDER = Path(__file__).parent / "targets"


@dataclass(frozen=True)
class Target:
    """The data of a GPU that the roofline, the lab and the prompts need."""

    name: str  # mi300x
    title: str  # AMD Instinct MI300X
    vendor: str  # amd | nvidia
    arch: str  # gfx942 | sm_90a
    wave: int  # lanes
    units: int  # compute units or multiprocessors
    clock_mhz: float
    peaks_tflops: Mapping[str, float]  # by the names tasks use in [work] peak
    memory: Mapping[str, float]  # bandwidths in TB/s, sizes in bytes, latencies in clocks
    limits: Mapping[str, int]  # threads per block, LDS bytes, registers, grid
    brief: str  # a paragraph for prompts and people
    clock: Mapping[str, float] = field(default_factory=dict)  # what a timeline needs, see lab/cost/clock.py

    def roofline_us(self, flops: float, bytes_moved: float, peak: str) -> float:
        """Bound the time in microseconds: the larger of arithmetic at peak and traffic at full bandwidth."""
        if peak not in self.peaks_tflops:
            raise UsageError(f"target {self.name} has no peak rate {peak!r}; it has {', '.join(self.peaks_tflops)}")
        return max(flops / self.peaks_tflops[peak] / 1e6, bytes_moved / self.memory["hbm_tb_s"] / 1e6)


def target_names() -> list[str]:
    """List the names of all shipped targets."""
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


def load_target(name: str) -> Target:
    """Read one target; UsageError names the known ones."""
    path = FOLDER / f"{name}.toml"
    if name not in target_names():
        raise UsageError(f"there is no target {name!r}; known are {', '.join(target_names())}")
    return Target(**tomllib.loads(path.read_text(encoding="utf-8")))
