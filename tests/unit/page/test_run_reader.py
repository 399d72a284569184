from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from page import Extras, RunReader
from page.run_reader import LOST
from records.artefacts import ArtefactStore
from records.errors import UsageError
from records.evaluation import CaseComparison, Comparison, comparison_key
from records.experiment import ModelCall, Usage
from records.ledger import Ledger


def reader_of(notebook: Any, **extras: Any) -> RunReader:
    return RunReader(notebook.ledger, notebook.artefacts, notebook.run.id, Extras(**extras))


def test_predicted_and_measured_are_said_and_never_mixed(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 1.0, "g000-e0-a0")
    reader = reader_of(notebook)
    assert reader.book().head.kind == "predicted"
    notebook.attempt(1, 1, 15.0, "g000-e0-a0", kind="measured")
    book = reader.book()
    assert (book.head.kind, book.head.best_id) == ("measured", "g001-e1-a0")
    assert book.head.over_seed is None  # the seed was never measured
    assert [shape.seed_us for shape in book.shapes] == [None, None]
    assert [line.kind for line in book.lines] == ["predicted", "predicted", "measured"]


def test_the_book_finds_winner_speedup_and_records(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 25.0, "g000-e0-a0")
    notebook.attempt(1, 1, 8.0, "g000-e0-a0")
    notebook.attempt(2, 0, None, "g001-e1-a0")
    book = reader_of(notebook).book()
    assert book.head.best_id == "g001-e1-a0"
    assert book.head.over_seed == pytest.approx(2.5)
    assert [line.is_record for line in book.lines] == [True, False, True, False]
    assert book.lines[2].gain_pct == pytest.approx(150.0)
    assert [shape.seed_us for shape in book.shapes] == pytest.approx([10.0, 40.0])
    assert (book.head.candidates, book.head.accepted, book.head.generations) == (4, 3, 2)
    assert book.roofline_us == pytest.approx(1.0)
    assert book.lines[2].roofline == pytest.approx(1 / 8)
    assert [(t.case, t.time_us) for t in book.lines[2].timings] == [("rows=8,cols=64", 4.0), ("rows=16,cols=32", 16.0)]
    assert (book.naive_id, book.seed_id) == ("g000-e0-a0", "g000-e0-a0")


def test_a_rejected_candidate_has_reason_code_stage_and_findings_with_their_lines(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    notebook.attempt(1, 0, None, "g000-e0-a0", source="int a;\nx[99] = 1;\nint b;\n")
    reader = reader_of(notebook)
    line, sheet = reader.book().lines[1], reader.sheet("g001-e0-a0")
    assert (line.reason, line.stage, line.code, line.findings) == ("reason", "execute", "B.3", ("out_of_bounds",))
    assert (line.time_us, line.timings, line.bound) == (None, (), "")
    assert sheet.meaning.startswith("a boundary is not checked")
    assert [(f.line, sheet.source.split("\n")[f.line - 1]) for f in sheet.findings if f.line] == [(2, "x[99] = 1;")]
    assert (sheet.parent, sheet.seed) == ("g000-e0-a0", "g000-e0-a0")


def test_calls_belong_to_the_candidates_of_their_place_and_their_cost_is_known_at_any_time(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    for key, experiment in (("plan", ""), ("code", "g001-e0"), ("other", "g001-e1")):
        prompt, reply = notebook.artefacts.put(f"ask {key}"), notebook.artefacts.put(f"say {key}")
        call = ModelCall(key, notebook.run.id, key, "m", prompt, "reserved", 1.0, None, Usage(), 1, experiment)
        notebook.ledger.reserve(call)
        notebook.ledger.settle(key, reply, Usage(1000, 200, 0.25))
    attempt = notebook.attempt(1, 0, 10.0, "g000-e0-a0")
    notebook.ledger.event(notebook.run.id, "attempt", {"attempt": attempt.id}, f"attempt:{attempt.id}")
    reader = reader_of(notebook)
    book = reader.book()
    assert reader.sheet(attempt.id).calls == (0, 1)
    assert (reader.call(1).prompt, reader.call(1).reply) == ("ask code", "say code")
    assert (book.head.calls, book.head.usd, book.calls[2].prompt_tokens) == (3, 0.75, 1000)
    assert [line.usd for line in book.lines] == [None, 0.75]  # the seed has no event that says when it was recorded
    with pytest.raises(UsageError, match="has no call 3"):
        reader.call(3)


def test_calls_without_a_time_leave_the_cost_of_a_candidate_unknown(notebook: Any) -> None:
    notebook.start()
    notebook.call("c1", 0.25)
    with notebook.ledger._writing() as db:  # as a program before this schema left them
        db.execute("UPDATE calls SET at = '', generation = NULL")
    attempt = notebook.attempt(0, 0, 20.0)
    notebook.ledger.event(notebook.run.id, "attempt", {"attempt": attempt.id}, f"attempt:{attempt.id}")
    book = reader_of(notebook).book()
    assert [line.usd for line in book.lines] == [None]
    assert book.head.usd == 0.25


def test_a_run_without_attempts_and_one_without_times_have_a_book(notebook: Any) -> None:
    notebook.start()
    reader = reader_of(notebook)
    assert (reader.book().lines, reader.book().head.best_us) == ((), None)
    notebook.attempt(0, 0, None)
    assert [line.status for line in reader.book().lines] == ["rejected"]
    assert reader.book().shapes == ()


def test_a_lost_source_leaves_a_sheet_that_says_so(notebook: Any) -> None:
    attempt = notebook.start().attempt(0, 0, 20.0)
    (notebook.artefacts.folder / attempt.source[:2] / attempt.source[2:4] / attempt.source).unlink()
    notebook.artefacts = ArtefactStore(notebook.artefacts.folder)  # one that has not had it in memory
    assert reader_of(notebook).sheet(attempt.id).source == LOST


def test_what_another_connection_writes_is_read_at_once(notebook: Any, tmp_path: Path) -> None:
    notebook.start().attempt(0, 0, 20.0)
    with Ledger(tmp_path / "ledger.db") as other:
        other.forbid_writing()
        reader = RunReader(other, notebook.artefacts, "run-1")
        assert reader.book().head.candidates == 1
        notebook.attempt(1, 0, 10.0, "g000-e0-a0")
        notebook.ledger.event("run-1", "best", {"generation": 1})
        book = reader.book()
        assert (book.head.candidates, book.head.best_id, book.events[-1].kind) == (2, "g001-e0-a0", "best")
        assert book.row == book.events[-1].number == other.last_event("run-1") == other.last_event()


def test_measured_kernels_are_ranked_as_the_run_decided_and_the_comparison_is_told(notebook: Any) -> None:
    """By level alone the second would be the best; timed in turns the third is, and the second is no faster."""
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, kind="measured")
    second = notebook.attempt(1, 0, 19.6, seed.id, kind="measured")
    third = notebook.attempt(1, 1, 19.8, seed.id, kind="measured")
    for new, ratio, verdict in ((second, 1.0, "same"), (third, 1 / 1.021, "faster")):
        case = CaseComparison("n", ratio, 1 / 1.024, 1 / 1.018, verdict, 36)
        key = comparison_key(new.evaluation_key, seed.evaluation_key)
        sides, ends = (new.evaluation_key, seed.evaluation_key), (1 / 1.024, 1 / 1.018)
        notebook.ledger.add_comparison(notebook.run.id, Comparison(key, *sides, verdict, ratio, *ends, (case,)))
    reader = reader_of(notebook)
    book = reader.book()
    assert book.head.best_id == third.id
    assert [line.id for line in book.lines if line.is_record] == [seed.id, third.id]
    assert reader.sheet(third.id).contrasts == (f"faster by 2.1 % (1.8 to 2.4, 36 windows) against {seed.id}",)
    assert reader.sheet(second.id).contrasts[0].startswith("the same speed")
    assert reader.sheet(seed.id).contrasts == ()


def test_measured_levels_without_a_comparison_leave_the_earlier_kernel_best(notebook: Any) -> None:
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, kind="measured")
    notebook.attempt(1, 0, 19.6, seed.id, kind="measured")
    far = notebook.attempt(1, 1, 12.0, seed.id, kind="measured")
    assert [line.id for line in reader_of(notebook).book().lines if line.is_record] == [seed.id, far.id]


def test_literature_is_told_once_with_its_readers(notebook: Any) -> None:
    notebook.start()
    quoted = {"title": "LDS", "section": "Banks", "source": "guide", "passage": "p1"}
    for role in ("planner", "writer", "planner"):
        notebook.ledger.event(notebook.run.id, "literature", {**quoted, "role": role})
    (passage,) = reader_of(notebook).book().literature
    assert (passage.title, passage.roles, passage.times) == ("LDS", ("planner", "writer"), 3)


def test_an_unknown_run_and_an_unknown_candidate_are_one_sentence(notebook: Any) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        RunReader(notebook.ledger, notebook.artefacts, "nothing")
    notebook.start()
    with pytest.raises(UsageError, match="has no candidate 'g9'"):
        reader_of(notebook).sheet("g9")
