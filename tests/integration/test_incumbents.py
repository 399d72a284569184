"""A run that names what it must beat: what heads its result, in the lab's way and in that of a measuring judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.beating.comparing import compare_incumbents
from app.beating.incumbent_names import incumbent_of, incumbents_of, keep_incumbents
from app.beating.racing import beating_of
from app.settings import Settings
from graph.doubles import TableSandbox
from page import RunReader
from page.headline import run_headline
from page.leaders import best_attempt, yardsticks
from records.errors import UsageError
from records.incumbent import Beating
from tests.support.scripted_run import Bench


def told(bench: Bench, *words: str) -> tuple[str, tuple[Beating, ...]]:
    """The result of a run after its end, and what it was compared with."""
    context = bench.context
    config = {**context.run.config, **keep_incumbents(words, context.artefacts)}
    bench.context = context = replace(context, run=replace(context.run, config=config))
    bench.drive()
    ledger, attempts = context.ledger, list(bench.attempts().values())
    best = best_attempt(attempts, ledger)
    for _ in range(2):  # the second time asks nothing
        compare_incumbents(Settings(), context, best)
    line = run_headline(ledger, ledger.run(context.run.id), attempts, yardsticks(attempts, ledger), best)
    book = RunReader(ledger, context.artefacts, context.run.id).book()
    assert book.head.headline == line
    return line.text, line.incumbents


def test_a_kernel_file_is_judged_and_heads_the_result(tmp_path: Path) -> None:
    theirs, wrong = tmp_path / "theirs.hip", tmp_path / "wrong.hip"
    theirs.write_text("// time_us = 12\n", encoding="utf-8")
    wrong.write_text("// fail verify it is wrong\n", encoding="utf-8")
    text, rows = told(Bench(tmp_path / "run"), str(theirs), str(wrong), "torch.compile")
    best_us = rows[0].best_us
    assert best_us and rows[0].speed == pytest.approx(12 / best_us) and rows[0].time_kind == "predicted"
    assert text.startswith(f"{12 / best_us:.2f}x of theirs.hip (12 us -> ") and "x the best seed" in text
    assert rows[0].is_beaten is False and rows[1].is_beaten is None and "refused at the stage" in rows[1].why
    assert "torch.compile was not timed: " in text


def test_a_measured_one_is_timed_in_turns(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.hip"
    theirs.write_text("// time_us = 90\n", encoding="utf-8")
    bench = Bench(tmp_path / "run", lambda step, base: "// time_us = 80\n")
    bench.context = replace(bench.context, sandbox=TableSandbox("gpu:table", "measured"))
    _, [row] = told(bench, str(theirs))
    assert row.time_kind == "measured" and row.verdict == "faster" and row.low is not None and row.high is not None
    assert row.low <= (row.speed or 0.0) <= row.high


def test_the_cases_of_a_race_are_combined(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.drive()
    best = best_attempt(list(bench.attempts().values()), bench.context.ledger)
    incumbent = incumbent_of("torch.compile", bench.context.artefacts)
    assert best is not None
    one = {"ratio": 1.25, "low": 1.2, "high": 1.3, "verdict": "slower", "windows": 60}
    cases = [{"case": name, **one} for name in ("n=64", "n=256")]
    row = beating_of({"cases": cases, "ours_us": 50.0, "theirs_us": 40.0}, bench.context, best, incumbent)
    assert row.speed == pytest.approx(0.8) and (row.low, row.high) == (pytest.approx(1 / 1.3), pytest.approx(1 / 1.2))
    assert row.text == "0.80x of torch.compile (40 us -> 50 us measured)"
    secret = "sk-1234567890ab"
    assert secret not in beating_of({"fault": f"no {secret}"}, bench.context, best, incumbent, (secret,)).why


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("cublas", "--beat is"),
        ("library:", "needs a call"),
        ("library:a b", "is no Python"),
        ("none.so", "no shared object"),
    ],
)
def test_what_is_no_incumbent_is_one_sentence(tmp_path: Path, word: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        incumbent_of(word, Bench(tmp_path).context.artefacts)


def test_what_is_named_is_kept_with_the_run(tmp_path: Path) -> None:
    artefacts = Bench(tmp_path).context.artefacts
    kept = keep_incumbents(("torch-eager", "library:torch.mm(a, b)", "torch.compile:torch.mm(a, b)"), artefacts)
    rows = incumbents_of(json.loads(json.dumps(kept)))
    assert [(row.name, row.kind) for row in rows] == [
        ("torch-eager", "torch-eager"),
        ("torch.mm(a, b)", "library"),
        ("torch.compile", "torch.compile"),
    ]
