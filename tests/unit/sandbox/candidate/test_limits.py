from __future__ import annotations

import pytest

from sandbox.candidate.kernel import KernelMetadata
from sandbox.candidate.limits import resources_of, waves_per_simd
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.target import load_target


def metadata(**more: int) -> KernelMetadata:
    fields = {"vgpr": 32, "agpr": 0, "sgpr": 16, "lds_bytes": 0, "scratch_bytes": 0, "max_block": 1024, **more}
    return KernelMetadata("k", "k", (), **fields)


@pytest.mark.parametrize(
    ("vgpr", "waves"),
    [(1, 8), (64, 8), (65, 7), (72, 7), (80, 6), (96, 5), (128, 4), (129, 3), (168, 3), (256, 2), (257, 1), (512, 1)],
)
def test_occupancy_by_vector_registers(vgpr: int, waves: int) -> None:
    assert waves_per_simd(metadata(vgpr=vgpr), 256, 0, load_target("mi300x")) == waves


@pytest.mark.parametrize(
    ("static", "dynamic", "threads", "waves"),
    [
        (32768, 0, 256, 2),
        (33000, 0, 256, 1),
        (21845, 0, 256, 2),
        (0, 21504, 256, 3),
        (65536, 0, 1024, 4),
        (40000, 40000, 64, 0),
        (0, 0, 64, 8),
        (0, 0, 128, 8),
        (1, 0, 64, 8),
        (16384, 0, 64, 1),
    ],
)
def test_occupancy_by_lds_and_block(static: int, dynamic: int, threads: int, waves: int) -> None:
    assert waves_per_simd(metadata(lds_bytes=static), threads, dynamic, load_target("mi300x")) == waves


def test_resources_take_the_worst_launch_of_the_plans() -> None:
    plans = [ResolvedPlan((ResolvedLaunch("k", (1, 1, 1), (256, 1, 1), lds, ()),), {}) for lds in (0, 33000)]
    target = load_target("mi300x")
    assert resources_of((metadata(),), target, plans)[0].waves_per_simd == 1
    assert resources_of((metadata(),), target, plans[:1])[0].waves_per_simd == 8
    assert resources_of((metadata(sgpr=103),), target)[0].waves_per_simd == 7
