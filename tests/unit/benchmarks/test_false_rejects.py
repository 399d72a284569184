"""Right kernels are judged under new secrets, by judges that share a compiler, and one rejection can be seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.false_rejects import FILE, collect, figures, kernels, upper_bound
from sandbox.candidate.parse import parse
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tests.kernels.mutants.mutants import SMALL

ROW = {"repeat": 0, "task": "transpose", "kernel": "right_tiles", "rejected": ""}


@pytest.mark.parametrize("place", ["mi300x", "h200"])
@pytest.mark.parametrize("name", list(SMALL))
def test_every_task_has_three_right_kernels_for_each_gpu(name: str, place: str) -> None:
    found = [parse(path.read_text(encoding="utf-8")).id for path in kernels(name, place)]
    assert len(set(found)) == len(found) >= 3


def test_one_rejection_in_a_thousand_is_within_the_goal_and_two_are_not() -> None:
    for rejected, met in ((0, True), (1, True), (2, False)):
        rows = [{**ROW, "rejected": "wrong_result" if number < rejected else ""} for number in range(1000)]
        assert figures(rows)[0].met is met and figures(rows)[0].value == rejected
    assert figures([ROW] * 40)[0].met and not figures([ROW] * 40 + [{**ROW, "rejected": "no"}])[0].met


def test_the_bound_on_the_true_rate_is_clopper_and_pearsons() -> None:
    assert upper_bound(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-6)
    assert upper_bound(1, 1000) == pytest.approx(0.004735, rel=1e-3)
    assert upper_bound(3, 3) == 1.0


@pytest.mark.slow
def test_without_a_gpu_the_collector_says_so_and_keeps_what_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if device_indices(load_target("h200")):
        pytest.skip("this machine has an H200")
    assert collect(tmp_path, 2, 60.0) == 1
    assert "ended early" in capsys.readouterr().out
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["rows"] == []
