"""The best seed is the fastest of the seeds' own texts: other values of its tunables are no idea."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.page.leaders import retuned, yardsticks
from app.session import summary
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
    again = replace(seed, id="g001-e2-a0", experiment_id="g001-e2", generation=1, draft=seed.source, geomean_us=40.0)
    attempts = [seed, idea, again]
    assert [a.id for a in retuned(attempts)] == [seed.id, again.id]
    assert yardsticks(attempts, ledger).over_best(idea) == pytest.approx(40 / 60)
    assert yardsticks(attempts, ledger).over_best(again) == pytest.approx(1.0)
    assert yardsticks(attempts, ledger).over_naive(again) == pytest.approx(100 / 40)
