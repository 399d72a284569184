from __future__ import annotations

from pathlib import Path

import pytest

from app.gpu_report import ISSUE, examine_amd, examine_fence
from sandbox.gpu.fence import FENCES
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.hip_stub import hip_stub


def test_the_block_says_what_we_need_to_know(tmp_path: Path) -> None:
    with hip_stub(toolchain(), COMPILED) as stub:
        lines = list(examine_amd(tmp_path, stub.library))
    assert [(line.name, line.state) for line in lines] == [
        ("MI300X device", "ok"),
        ("MI300X compiler", "ok"),
        ("MI300X test", "ok"),
        ("MI300X", "warn"),
    ]
    assert lines[3].remedy == ISSUE
    assert lines[0].found == (
        "AMD Instinct MI300X (stub) / driver 7.0.51831 / gfx942, 304 units of 64 lanes, 4 GiB, L2 4 MiB, 0000:1b:00.0"
    )
    assert lines[1].found.startswith("hiprtc 7.0, ")
    assert stub.world.violations == []


def test_a_gpu_that_computes_wrongly_is_told(tmp_path: Path) -> None:
    with hip_stub(toolchain(), COMPILED) as stub:
        stub.world.skipped.update(("ks_noise", "trusted_noise"))
        lines = list(examine_amd(tmp_path, stub.library))
    assert lines[2].state == "warn" and "computes wrong results" in lines[2].found and lines[2].remedy == ISSUE


def test_what_is_missing_is_a_line(tmp_path: Path) -> None:
    lines = list(examine_amd(tmp_path, str(tmp_path / "libamdhip64.so")))
    assert [line.state for line in lines] == ["missing", "missing", "warn", "warn"]
    assert "ROCm" in lines[0].found and "ROCm" in lines[1].found


def test_the_fence_of_a_gpu_is_named(tmp_path: Path) -> None:
    with hip_stub(toolchain(), COMPILED) as stub:
        line = examine_fence(load_target("mi300x"), tmp_path, stub.library)
    level, _, summary = line.found.partition(" (")
    assert line.name.endswith("isolation") and level in FENCES and summary.endswith(")")
    assert line.state == ("warn" if level in ("filter", "open") else "ok")


@pytest.mark.slow
def test_a_gpu_without_its_driver_has_no_fence(tmp_path: Path) -> None:
    line = examine_fence(load_target("mi300x"), tmp_path, str(tmp_path / "libamdhip64.so"))
    assert line.state == "missing" and "ROCm" in line.found
