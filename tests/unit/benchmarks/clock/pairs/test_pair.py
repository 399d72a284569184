"""Every pair is two right kernels of one file for one task, and says from where its order is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.devices import target_of
from benchmarks.clock.judged import PointLab
from benchmarks.clock.pairs.pair import FOLDER, Pair, load_pairs
from records.errors import UsageError

PAIRS = load_pairs()


def test_every_kernel_and_every_task_belongs_to_a_pair() -> None:
    names, tasks = [pair.name for pair in PAIRS], {pair.task for pair in PAIRS}
    assert len(set(names)) == len(names)
    assert {path.stem for path in (FOLDER / "kernels").glob("*.hip")} == set(names)
    assert {path.name for path in (FOLDER / "tasks").iterdir() if path.is_dir()} == tasks


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_has_a_margin_a_reason_and_a_source_and_both_kernels_fit_its_task(pair: Pair) -> None:
    assert pair.least > 1 and pair.why and pair.source
    for which, choice in (("fast", 1), ("slow", 0)):
        prepared = pair.prepared(which)
        assert prepared.refusal is None and prepared.tunables == {"FAST": choice}
        assert [dict(case.dims) for case in prepared.task.benchmarks] == [pair.dims]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_both_kernels_are_right(pair: Pair) -> None:
    lab = PointLab(target_of("MI300X"))
    assert [lab.fault_of(pair.prepared(which)) for which in ("fast", "slow")] == ["", ""]


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pairs\.toml"):
        load_pairs(tmp_path)
