"""What the stored searches of an H200 are read as."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.h200_search import figures, main


def row(median: float) -> dict[str, float]:
    return {"median_us": median, "low_us": median, "high_us": median}


def case(**times: float) -> dict[str, object]:
    names = {"copy": "copy kernel", "eager": "torch eager", "compiled": "torch.compile"}
    rows = {names.get(name, name): row(us) for name, us in times.items()}
    return {"case": "n=1", "weight": 1.0, "times": {**rows, "torch copy_": row(99.0)}}


def found() -> dict[str, object]:
    searched = {"timed": 3, "accepted": 2, "seconds": 1.0, "tunables": {"ROWS": 2}, "is_table": False}
    return {
        "about": {"nvidia_smi": "NVIDIA H200, 1", "torch": "2", "cuda": "13", "date": "today"},
        "searches": {"mine": {**searched, "given": []}, "theirs": {**searched, "given": ["a.hip"], "is_table": True}},
        "races": {
            "mine": [case(ours=4.0, naive=16.0, copy=2.0, eager=6.0, compiled=8.0)],
            "theirs": [
                case(ours=1.0, naive=9.0, copy=1.0, eager=4.0, compiled=5.0),
                case(ours=2.0, naive=9.0, copy=1.0, eager=3.0, compiled=1.0),
            ],
        },
    }


def test_each_is_compared_with_the_fastest_pytorch_and_a_naive_one_with_a_copy() -> None:
    by_name = {figure.figure.removeprefix("h200_search."): figure for figure in figures(found())}
    assert by_name["mine.torch"].anchor_value == pytest.approx(6.0)
    assert by_name["mine.share"].value == pytest.approx(0.5)
    assert by_name["mine.share"].anchor_value == pytest.approx(0.125)
    assert by_name["given.mean"].value == pytest.approx((4.0 * 0.5) ** 0.5)
    assert (by_name["given.least"].value, by_name["given.least"].met) == (0.5, False)
    assert (by_name["own.reached"].value, by_name["own.reached"].anchor_value) == (0, 1)
    assert "theirs.share" not in by_name


def test_the_stored_run_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    output = capsys.readouterr().out
    assert output.startswith("NVIDIA H200") and "row_softmax: a table of kernels by shape" in output
    figure = next(json.loads(line) for line in output.splitlines() if '"h200_search.own.reached"' in line)
    assert figure["met"] is True and figure["anchor_value"] == 12


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"run benchmarks\.on_h200_search"):
        main([str(tmp_path / "none.json")])
