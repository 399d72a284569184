"""The best seed is the fastest of the seeds' own texts: other values of its tunables are no idea."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.session import summary
from page import RunReader
from page.leaders import leaders, retuned, yardsticks
from tests.support.scripted_run import Bench

TUNABLE = "// tunable ROWS = 1, 2, 4\n// time_us = 100\n// time_us[ROWS=4] = 40\n"


def test_a_seed_at_other_tunables_is_that_seed_and_no_gain(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: "// time_us = 60\n", TUNABLE, generations=1, picks=1, tunings=1)
    bench.drive()
    ledger = bench.context.ledger
    seed, idea = (bench.attempts()[name] for name in ("g000-e0-a0", "g001-e1-a0"))
    assert (seed.geomean_us, idea.geomean_us) == (pytest.approx(100), pytest.approx(60))
    plain = summary(ledger, bench.context.run, tmp_path, 0.0)
    assert plain.is_gain
    retuning = replace(seed, id="g001-e2-a0", experiment_id="g001-e2", generation=1, draft=seed.source, geomean_us=40.0)
    attempts = [seed, idea, retuning]
    assert [a.id for a in retuned(attempts)] == [seed.id, retuning.id]
    assert yardsticks(attempts, ledger).over_best(idea) == pytest.approx(40 / 60)
    assert yardsticks(attempts, ledger).over_best(retuning) == pytest.approx(1.0)
    assert yardsticks(attempts, ledger).over_naive(retuning) == pytest.approx(100 / 40)


@pytest.mark.parametrize(("error", "is_gain"), [(0.0, True), (0.1, False)])
def test_a_run_whose_best_is_within_the_clock_s_error_gained_nothing(
    tmp_path: Path, error: float, is_gain: bool
) -> None:
    """The page and the result decide as the run did, and the lesson says what the gain is worth."""
    claim = f"// error = {error}\n"
    bench = Bench(tmp_path, lambda step, base: f"// time_us = 95\n{claim}", f"// time_us = 100\n{claim}", picks=1)
    bench.drive()
    ledger, attempts = bench.context.ledger, bench.attempts()
    idea, seed = attempts["g001-e1-a0"], attempts["g000-e0-a0"]
    assert (idea.status, idea.time_error) == ("accepted", error)
    assert ("equal within the clock's error of 10 %" in idea.lesson) is not is_gain
    announced = [e.payload["attempt"] for e in ledger.events(bench.context.run.id) if e.kind == "best"]
    assert announced == ([seed.id, idea.id] if is_gain else [seed.id])
    assert [a.id for a in leaders(list(attempts.values()), ledger)] == announced
    assert summary(ledger, bench.context.run, tmp_path, 0.0).is_gain is is_gain
    lines = RunReader(ledger, bench.context.artefacts, bench.context.run.id).book().lines
    assert [line.tie for line in lines] == ["", "" if is_gain else "equal within the clock's error of 10 %"]
