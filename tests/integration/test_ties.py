"""Whole runs whose gains lie within the clock's error: nothing is won by them, and nothing rests on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Specimen, Step
from tests.support.scripted_run import Bench


def ran(folder: Path, error: float, *times: str, **limits: int) -> Bench:
    """A run whose experiments write kernels with these times in turn, all with the same error."""
    claim = f"// error = {error}\n"

    def writer(step: Step, base: Specimen) -> str:
        return f"// {step.experiment_id}\n{times[(int(step.experiment_id[-1]) - 1) % len(times)]}{claim}"

    bench = Bench(folder, writer, f"// time_us = 100\n{claim}", **limits)
    bench.drive()
    return bench


@pytest.mark.parametrize(("error", "is_made"), [(0.5, True), (0.8, False)])
def test_no_table_by_shape_is_made_of_a_tie(tmp_path: Path, error: float, is_made: bool) -> None:
    """The benchmark cases are n=64 and n=256; the table of these two would be 73 % faster than the better one."""
    small, large = "// time_us = 90\n// time_us[n=64] = 20\n", "// time_us = 90\n// time_us[n=256] = 30\n"
    bench = ran(tmp_path, error, small, large)
    tables = [a for a in bench.attempts().values() if a.arms]
    assert len(tables) == is_made
    assert all(a.time_error == pytest.approx(error) for a in tables)


def test_small_gains_add_up_until_they_count(tmp_path: Path) -> None:
    """The choice of what to build on goes by expected time, the lead by what exceeds the error."""

    def writer(step: Step, base: Specimen) -> str:
        return f"// time_us = {100 - 4 * step.generation}\n// error = 0.1\n"

    bench = Bench(tmp_path, writer, "// time_us = 100\n// error = 0.1\n", generations=4, picks=1, dispatch=0)
    bench.drive()
    led = [e.payload["attempt"] for e in bench.context.ledger.events(bench.context.run.id) if e.kind == "best"]
    assert led == ["g000-e0-a0", "g003-e1-a0"], "96 and 92 are equal to 100, 88 is not, and 84 is equal to 88"
    assert bench.attempts()["g003-e1-a0"].parent_id == "g002-e1-a0"
