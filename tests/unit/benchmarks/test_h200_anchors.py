"""What the stored comparison with PyTorch is read as."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.h200_anchors import bandwidth, equals, figures, main, roofline
from benchmarks.on_h200_anchors import entry_of, spread


def row(median: float) -> dict[str, float]:
    return {"median_us": median, "low_us": median - 1, "high_us": median + 1, "least_us": median - 2, "samples": 40}


def stored() -> dict[str, object]:
    cases = [
        {
            "case": name,
            "flops": flops,
            "bytes": 4e6,
            "weight": 1.0,
            "failed": {"torch.compile": "Boom: no\nmore"},
            "largest_difference": {"ours: a.hip": 0.0},
            "times": {
                "ours: a.hip": row(4.0 * by),
                "ours: b.hip": row(2.0 * by),
                "torch eager": row(6.0 * by),
                "_scaled_mm, one scale": row(1.0),
                "copy kernel": row(1.0 * by),
                "torch copy_": row(3.0),
                "nothing": row(0.5),
            },
        }
        for name, flops, by in (("m=1", 0.0, 1.0), ("m=2", 1979e6, 4.0))
    ]
    return {
        "about": {"nvidia_smi": "NVIDIA H200, 1", "torch": "2", "cuda": "13", "date": "today"},
        "rounds": 40,
        "files": {"fp8_block_gemm": {"a.hip": {"BN": 64}, "b.hip": {}}},
        "copy_1_gib": {"bytes": 8e9, "copy kernel": row(2000.0), "torch copy_": row(1000.0)},
        "tasks": {"fp8_block_gemm": cases},
    }


def test_the_figures_take_the_best_of_ours_and_only_rivals_that_compute_the_same() -> None:
    by_name = {figure.figure: figure for figure in figures(stored())}
    best = by_name["anchors.fp8_block_gemm.best"]
    assert (best.value, best.anchor_value) == (pytest.approx(4.0), pytest.approx(12.0))
    assert by_name["anchors.fp8_block_gemm.copy"].anchor_value == pytest.approx(3**0.5)
    assert by_name["anchors.fp8_block_gemm._scaled_mm,_one_scale"].anchor_value == pytest.approx(1.0)
    assert by_name["anchors.fp8_block_gemm.roofline"].anchor_value == pytest.approx(((4e6 / 8e6) * 1.0) ** 0.5)


def test_the_roofline_is_the_larger_of_traffic_at_the_measured_rate_and_arithmetic_at_peak() -> None:
    data = stored()
    first, second = data["tasks"]["fp8_block_gemm"]  # type: ignore[index]
    assert bandwidth(data) == pytest.approx(8e6)
    assert roofline(first, "fp8_block_gemm", 8e6) == pytest.approx(0.5)
    assert roofline(second, "fp8_block_gemm", 8e6) == pytest.approx(1.0)
    assert equals(first) == ["torch eager"]


def test_a_stored_file_is_printed_and_a_missing_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps(stored()), encoding="utf-8")
    assert main([str(path)]) == 0
    output = capsys.readouterr().out
    assert "copy of 1 GiB: 8.000 TB/s" in output
    assert "Boom: no" in output
    assert "a.hip: BN=64" in output
    with pytest.raises(SystemExit, match="on_h200_anchors"):
        main([str(tmp_path / "none.json")])


def test_an_entry_names_task_file_and_tunables() -> None:
    entry = entry_of("rms_norm=some/where.hip,BLOCK=256,VEC=8")
    assert (entry.task, entry.path, entry.tunables) == ("rms_norm", Path("some/where.hip"), {"BLOCK": 256, "VEC": 8})
    assert entry_of("rms_norm=a.hip").tunables == {}


def test_samples_are_kept_as_median_and_quartiles() -> None:
    assert spread([5.0, 1.0, 4.0, 2.0, 3.0]) == {
        "median_us": 3.0,
        "low_us": 1.5,
        "high_us": 4.5,
        "least_us": 1.0,
        "samples": 5,
    }
