from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from app.report import Extras, render, tell
from records.artefacts import ArtefactStore
from records.evaluation import CaseComparison, Comparison, comparison_key
from records.ledger import Ledger


class Reader(HTMLParser):
    """Everything a browser would act on."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.policy = ""
        self.feed(page)
        self.text = "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        values = dict(attrs)
        if values.get("http-equiv"):
            self.policy = values["content"] or ""

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def page_of(notebook: Any, **extras: Any) -> str:
    return render(tell(notebook.ledger, notebook.artefacts, notebook.run.id, Extras(**extras)))


def test_predicted_and_measured_are_said_and_never_mixed(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 1.0, "g000-e0-a0")
    assert "Predicted times." in page_of(notebook)
    notebook.attempt(1, 1, 15.0, "g000-e0-a0", kind="measured")
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    assert story.kind == "measured"
    assert story.best is not None
    assert story.best.attempt.id == "g001-e1-a0"
    assert story.best.speedup is None  # the seed was never measured
    assert "Measured times" in render(story)


@pytest.mark.parametrize("is_bare", [False, True])
def test_what_a_judge_does_not_tell_takes_no_room(notebook: Any, is_bare: bool) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0, kind="measured", is_bare=is_bare)
    text = Reader(page_of(notebook)).text
    for words in ("VGPR", "AGPR", "Waves per SIMD", "Bound", "Counters over the benchmarks", "Static instructions"):
        assert (words in text) is not is_bare, words
    assert ("Registers" in text) is is_bare and "none recorded" not in text


def test_the_story_finds_winner_speedup_and_records(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 25.0, "g000-e0-a0")
    notebook.attempt(1, 1, 8.0, "g000-e0-a0")
    notebook.attempt(2, 0, None, "g001-e1-a0")
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    assert story.best is not None
    assert story.best.attempt.id == "g001-e1-a0"
    assert story.best.speedup == pytest.approx(2.5)
    assert [r.is_record for r in story.rows] == [True, False, True, False]
    assert [r.gain_pct for r in story.rows][2] == pytest.approx(150.0)
    assert [s.speedup for s in story.shapes] == pytest.approx([2.5, 2.5])
    assert (story.accepted, story.generations) == (3, 2)
    assert story.roofline_us == pytest.approx(1.0)


def test_a_rejected_attempt_shows_reason_code_stage_and_the_line(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    notebook.attempt(1, 0, None, "g000-e0-a0", source="int a;\nx[99] = 1;\nint b;\n")
    text = Reader(page_of(notebook)).text
    for expected in ("reason", "(execute, B.3)", "a boundary is not checked", "out of bounds", "line 2", "x[99] = 1;"):
        assert expected in text


def test_cost_is_summed_by_role_and_model(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    notebook.call("a", 0.25)
    notebook.call("b", 0.50)
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    assert (story.calls, story.usd, story.bills[0].prompt_tokens) == (2, 0.75, 2000)
    assert "$0.75" in render(story)


def test_a_run_without_attempts_and_one_without_times_have_a_page(notebook: Any) -> None:
    notebook.start()
    assert "There was no attempt." in page_of(notebook)
    notebook.attempt(0, 0, None)
    assert "No attempt was timed." in page_of(notebook)


def test_a_lost_source_leaves_a_page_that_says_so(notebook: Any) -> None:
    attempt = notebook.start().attempt(0, 0, 20.0)
    (notebook.artefacts.folder / attempt.source[:2] / attempt.source[2:4] / attempt.source).unlink()
    notebook.artefacts = ArtefactStore(notebook.artefacts.folder)  # one that has not had it in memory
    assert "missing from the artefact store" in page_of(notebook)


def test_the_ledger_file_can_be_read_again_by_another_connection(notebook: Any, tmp_path: Path) -> None:
    notebook.start().attempt(0, 0, 20.0)
    with Ledger(tmp_path / "ledger.db") as other:
        assert tell(other, notebook.artefacts, "run-1").best is not None


def test_hopes_are_compared_with_what_was_found(notebook: Any) -> None:
    notebook.start()
    assert tell(notebook.ledger, notebook.artefacts, notebook.run.id).calibration == ""
    notebook.attempt(0, 0, 20.0)
    for slot, time_us in enumerate((16.0, 19.9, 2.0)):  # 25 %, 0.5 % and 900 %, where 5 to 40 % had been hoped for
        notebook.attempt(1, slot, time_us, "g000-e0-a0")
    assert tell(notebook.ledger, notebook.artefacts, notebook.run.id).calibration == (
        "Of 3 verified experiments 1 gained what the planner had predicted, 1 less and 1 more."
    )


def test_one_of_a_thing_is_told_in_the_singular(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 16.0, "g000-e0-a0")
    text = Reader(page_of(notebook)).text
    for words in ("in 1 generation", "1 of 1 verification case passed", "Of 1 verified experiment 1 gained"):
        assert words in text
        assert words.replace(" passed", "").replace(" 1 gained", "") + "s" not in text


def test_measured_kernels_are_ranked_as_the_run_decided_and_the_comparison_is_told(notebook: Any) -> None:
    """By level alone the second would be the best; timed in turns the third is, and the second is no faster."""
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, kind="measured")
    second = notebook.attempt(1, 0, 19.6, seed.id, kind="measured")
    third = notebook.attempt(1, 1, 19.8, seed.id, kind="measured")
    for new, ratio, verdict in ((second, 1.0, "same"), (third, 1 / 1.021, "faster")):
        case = CaseComparison("n", ratio, 1 / 1.024, 1 / 1.018, verdict, 36)
        notebook.ledger.add_comparison(
            notebook.run.id,
            Comparison(
                comparison_key(new.evaluation_key, seed.evaluation_key),
                new.evaluation_key,
                seed.evaluation_key,
                verdict,
                ratio,
                1 / 1.024,
                1 / 1.018,
                (case,),
            ),
        )
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    assert story.best is not None
    assert story.best.attempt.id == third.id
    assert [row.attempt.id for row in story.rows if row.is_record] == [seed.id, third.id]
    text = Reader(page_of(notebook)).text
    assert f"Timed in turns: faster by 2.1 % (1.8 to 2.4, 36 windows) against {seed.id}." in text
    assert "Timed in turns: the same speed" in text


def test_measured_levels_without_a_comparison_leave_the_earlier_kernel_best(notebook: Any) -> None:
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, kind="measured")
    notebook.attempt(1, 0, 19.6, seed.id, kind="measured")
    far = notebook.attempt(1, 1, 12.0, seed.id, kind="measured")
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    assert [row.attempt.id for row in story.rows if row.is_record] == [seed.id, far.id]
