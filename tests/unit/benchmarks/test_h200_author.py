"""The stored campaigns on an H200 as figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.h200_author import STORED, figures, main
from benchmarks.packed import read_text


def found() -> dict[str, Any]:
    def case(ours: float, copied: float, eager: float, compiled: float) -> dict[str, Any]:
        times = {"ours": ours, "copy kernel": copied, "torch copy_": 99.0, "torch eager": eager}
        times["torch.compile"] = compiled
        return {"case": "n=1", "weight": 1, "times": {name: {"median_us": time} for name, time in times.items()}}

    attempts = [
        {"id": "g000-e0-a0", "status": "accepted", "us": 90.0},
        {"id": "g000-e1-a0", "status": "accepted", "us": 30.0},
        {"id": "g001-e1-a0", "status": "tried", "us": 25.0},
        {"id": "g001-e1-a1", "status": "accepted", "us": 15.0},
    ]
    campaign = {"best": "g001-e1-a1", "requests": 8, "asked": 27, "attempts": attempts}
    about = {"nvidia_smi": "NVIDIA H200", "torch": "2", "cuda": "13", "date": "2026-01-01"}
    races = {"rms_norm": [case(10, 11, 16, 20), case(40, 44, 80, 36)]}
    return {"about": about, "campaigns": {"rms_norm": campaign}, "races": races}


def test_a_kernel_stands_beside_its_best_seed_a_copy_and_the_fastest_of_pytorchs_ways() -> None:
    by_name = {f.figure: (round(f.value, 3), f.anchor, round(f.anchor_value, 3), f.met) for f in figures(found())}
    assert by_name == {
        "h200_author.rms_norm.judged": (15.0, "the best seed, tuned", 30.0, None),
        "h200_author.rms_norm.copy": (20.0, "the faster copy in each case", 22.0, None),
        "h200_author.rms_norm.torch": (20.0, "the fastest PyTorch in each case", 24.0, None),
        "h200_author.all.mean": (1.2, "the fastest PyTorch in each case", 1.0, True),
        "h200_author.all.least": (0.9, "the fastest PyTorch in that case", 1.0, False),
    }


def test_the_stored_campaigns_reach_their_goals() -> None:
    stored = figures(json.loads(read_text(STORED)))
    assert {f.figure: f.met for f in stored if f.goal} == {"h200_author.all.mean": True, "h200_author.all.least": True}


def test_a_file_of_results_is_printed_and_a_missing_one_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "author.json"
    path.write_text(json.dumps(found()), encoding="utf-8")
    assert main([str(path)]) == 1, "one of its cases is slower than PyTorch"
    assert "rms_norm: g001-e1-a1, 8 requests, 27 answers of the judge" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"run benchmarks\.on_h200_author"):
        main([str(tmp_path / "nothing.json")])
