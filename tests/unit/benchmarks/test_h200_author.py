"""The stored campaign on an H200 as figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.h200_author import figures, main


def found() -> dict[str, Any]:
    def case(ours: float, copied: float, eager: float) -> dict[str, Any]:
        times = {"ours": ours, "copy kernel": copied, "torch eager": eager}
        return {"case": "n=1", "times": {name: {"median_us": time} for name, time in times.items()}}

    attempts = [
        {"id": "g000-e0-a0", "status": "accepted", "us": 90.0},
        {"id": "g000-e1-a0", "status": "accepted", "us": 30.0},
        {"id": "g001-e1-a0", "status": "tried", "us": 25.0},
        {"id": "g001-e1-a1", "status": "accepted", "us": 15.0},
    ]
    told = {"best": "g001-e1-a1", "requests": 8, "asked": 27, "attempts": attempts}
    return {"campaigns": {"rms_norm": told}, "races": {"rms_norm": [case(10, 11, 20), case(40, 44, 80)]}}


def test_a_kernel_stands_beside_its_best_seed_a_copy_and_pytorch() -> None:
    made = {f.figure: (round(f.value, 3), f.anchor, round(f.anchor_value, 3)) for f in figures(found())}
    assert made == {
        "h200_author.rms_norm.judged": (15.0, "the best seed, tuned", 30.0),
        "h200_author.rms_norm.variants.copy_kernel": (20.0, "copy kernel", 22.0),
        "h200_author.rms_norm.variants.torch_eager": (20.0, "torch eager", 40.0),
    }


def test_a_file_of_results_is_printed_and_a_missing_one_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "author.json"
    path.write_text(json.dumps(found()), encoding="utf-8")
    assert main([str(path)]) == 0
    assert "rms_norm: g001-e1-a1, 8 requests, 27 answers of the judge" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"run benchmarks\.on_h200_author"):
        main([str(tmp_path / "nothing.json")])
