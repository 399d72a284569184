"""The one number is told over what the user brought, and what stands beside it follows from the records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph.context import StartingKernel
from page import RunReader
from page.headline import Headline, diff_of, run_headline
from page.leaders import best_attempt, yardsticks
from tests.support.line_changes import LineChanges
from tests.support.scripted_run import Bench

SEED = "// time_us = 100\n// roofline_us = 5\n// bound = hbm\n"
BOOK = {"fast:1": "// time_us = 40\n"}
MINE = "// tunable ROWS = 1, 2\n// time_us = 80\n// time_us[ROWS=2] = 60\n// roofline_us = 5\n"


def headline_of(bench: Bench) -> Headline:
    ledger, attempts = bench.context.ledger, list(bench.attempts().values())
    seeds, run = yardsticks(attempts, ledger), ledger.run(bench.context.run.id)
    return run_headline(ledger, run, attempts, seeds, best_attempt(attempts, ledger))


def bench_of(folder: Path, *kernels: str, author: str = "", book: dict[str, str] | None = None) -> Bench:
    bench = Bench(folder, planner=lambda g: (), generations=3)
    starts = tuple(StartingKernel(f"file {n}", bench.context.artefacts.put(text)) for n, text in enumerate(kernels))
    run = replace(bench.context.run, author=author or bench.context.run.author)
    bench.context = replace(bench.context, run=run, starts=starts, changes=LineChanges(book or BOOK))
    return bench


def test_the_gain_is_over_the_user_s_kernel_as_it_was_written(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, MINE)
    bench.drive()
    told = headline_of(bench)
    assert (told.over, told.over_us, told.best_us) == ("given", pytest.approx(80), pytest.approx(40))
    assert told.gain == pytest.approx(2.0)
    assert "2.00x your kernel" in told.text and "predicted" in told.text
    assert "fast 1" in told.change, "in the book's words, not by its handle"


def test_without_one_it_is_over_the_best_seed_as_tuned(tmp_path: Path) -> None:
    bench = bench_of(tmp_path)
    bench.drive()
    told = headline_of(bench)
    assert (told.over, told.over_id, told.gain) == ("seed", "g000-e0-a0", pytest.approx(2.5))
    book = RunReader(bench.context.ledger, bench.context.artefacts, bench.context.run.id).book()
    assert book.head.headline == told


def test_a_kernel_that_was_not_accepted_is_named_and_no_yardstick(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "// fail verify it is wrong\n")
    bench.drive()
    told = headline_of(bench)
    assert told.over == "seed" and "not accepted" in told.text


def test_nothing_gained_is_said_without_a_ratio(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "// time_us = 50\n// roofline_us = 5\n", book={"slow:1": "// time_us = 90\n"})
    bench.drive()
    told = headline_of(bench)
    assert (told.gain, told.over_id == told.best_id) == (pytest.approx(1.0), True)
    assert "no verified kernel is faster" in told.text


@pytest.mark.parametrize(("author", "time_us", "has_advice"), [("playbook", 40, 1), ("llm", 40, 0), ("playbook", 6, 0)])
def test_the_playbook_says_who_could_go_on_where_much_of_the_roofline_is_left(
    tmp_path: Path, author: str, time_us: int, has_advice: bool
) -> None:
    bench = bench_of(tmp_path, author=author, book={"fast:1": f"// time_us = {time_us}\n"})
    bench.drive()
    told = headline_of(bench)
    assert told.roofline == pytest.approx(5 / time_us)
    assert ("a model or a person is needed" in told.advice) is bool(has_advice)


def test_a_run_without_a_kernel_has_a_headline_too() -> None:
    assert Headline().gain is None and Headline().text


def test_a_diff_names_both_sides_and_is_empty_for_one_text() -> None:
    assert diff_of("a\nb", "a\nb") == ""
    assert diff_of("a\nb", "a\nc", ("x", "y")).splitlines() == ["--- x", "+++ y", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]
