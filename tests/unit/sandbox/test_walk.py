from __future__ import annotations

from pathlib import Path

import pytest

from graph.doubles import table_task
from graph.table_sandbox import TableSandbox
from records.evaluation import Contender, Evaluation, Rival
from sandbox import walk
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning

SOURCE = "// time_us = 10\n// tunable ROWS = 4, 1, 2\n// time_us[ROWS=1] = 7\n// time_us[ROWS=2] = 5\n"


class Asked:
    """A sandbox behind a list of what was asked of it."""

    def __init__(self) -> None:
        self.sandbox, self.rows = TableSandbox("gpu:table", "measured"), list[tuple[str, int]]()

    def __call__(self, purpose: walk.Purpose, prepared: Prepared) -> Evaluation:
        self.rows.append((purpose, prepared.tunables.get("ROWS", 0)))
        return walk.question(self.sandbox, purpose)(prepared)


@pytest.fixture
def ask() -> Asked:
    return Asked()


def prepared(ask: Asked, folder: Path, source: str = SOURCE) -> Prepared:
    return ask.sandbox.prepare(source, table_task(folder / "task", "// time_us = 1\n"))


def test_after_a_refusal_nothing_more_is_asked_and_every_stage_says_the_same(ask: Asked, tmp_path: Path) -> None:
    stages = walk.judge(ask, prepared(ask, tmp_path, "// fail compile no\n"), ("compile", "verify", "benchmark"))
    assert ask.rows == [("compile", 0)]
    assert [name for name, _ in stages] == ["compile", "verify", "benchmark"]
    assert all(evaluation is stages[0][1] for _, evaluation in stages) and not stages[0][1].verdict.accepted


def test_the_best_estimate_is_judged_first_and_the_first_right_one_ends_it(ask: Asked, tmp_path: Path) -> None:
    candidate = prepared(ask, tmp_path)
    choices = walk.tune(ask, candidate, Tuning(limit=24))
    assert choices == [{"ROWS": 2}, {"ROWS": 1}, {"ROWS": 4}]
    ask.rows.clear()
    best = walk.benchmark(ask, candidate, choices)
    assert ask.rows == [("compile", 2), ("benchmark", 2)]
    assert (best.evaluation.geomean_us, best.is_known) == (pytest.approx(5.0), False)


def test_a_wrong_choice_gives_way_to_the_next_and_the_default_comes_last(ask: Asked, tmp_path: Path) -> None:
    candidate = prepared(ask, tmp_path, SOURCE + "// fail verify[ROWS=2] wrong\n// fail verify[ROWS=1] wrong\n")
    best = walk.benchmark(ask, candidate, walk.tune(ask, candidate, Tuning(limit=24)))
    assert best.prepared.tunables == {"ROWS": 4} and best.evaluation.verdict.accepted


def test_a_kernel_that_is_known_ends_the_walk_before_it_is_judged(ask: Asked, tmp_path: Path) -> None:
    best = walk.benchmark(ask, prepared(ask, tmp_path), [{"ROWS": 2}, {"ROWS": 4}], lambda tuned, compiled: True)
    assert best.is_known and ask.rows == [("compile", 2)]


def test_only_close_measured_levels_need_a_comparison(ask: Asked, tmp_path: Path) -> None:
    evaluation = ask("benchmark", prepared(ask, tmp_path, "// time_us = 10\n// spread_us = 0.1\n"))
    assert walk.needs_comparison(evaluation, Rival(Contender(SOURCE), 9.9, 10.2))
    assert not walk.needs_comparison(evaluation, Rival(Contender(SOURCE), 20.0, 21.0))
    assert not walk.needs_comparison(evaluation, None)
    ask.sandbox.kind = "predicted"
    predicted = ask("benchmark", prepared(ask, tmp_path, "// time_us = 10\n"))
    assert not walk.needs_comparison(predicted, Rival(Contender(SOURCE), 9.9, 10.2))
