"""What became of experiments that read a passage: rates with intervals, and the factors that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.remembered import keep_weights, weights_kept
from app.wiring import StoredLiterature
from knowledge.passage_use import Rate, all_uses, by_document, by_passage, together, uses_of, weights_of
from knowledge.store import KnowledgeStore
from records.artefacts import ArtefactStore
from records.experiment import Attempt, Credit, Experiment, Run
from records.ledger import Ledger
from records.literature import PassageReading, Shown

RUN = Run("r", "t", "mi300x", "lab", "llm", 7)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.db") as made:
        made.add_run(RUN)
        yield made


def shown(passage: str) -> Shown:
    return Shown(passage, passage[0], f"title {passage[0]}", passage, "a book", "q", 1)


def experiment(ledger: Ledger, slot: int, read: list[str], statuses: list[str], **more: Any) -> None:
    """One experiment that read passages as its writer; each status is an attempt."""
    name = f"g001-e{slot}"
    idea = Experiment(name, RUN.id, 1, slot, "p", None, name, "", cites=tuple(more.get("cites", ())))
    ledger.add_experiment(idea)
    ledger.add_reading(
        PassageReading(RUN.id, f"{name}:writer:0", "writer", 1, name, 0, ("q",), tuple(map(shown, read)), "x")
    )
    for number, status in enumerate(statuses):
        gain = Credit(idea_pct=more.get("gain")) if status == "accepted" else Credit()
        ledger.add_attempt(
            Attempt(f"{name}-a{number}", RUN.id, name, 1, number, "c", "s", status, "k", credit=gain,  # type: ignore[arg-type]
                    stage="compile" if status == "rejected" else "time", code="OK" if status == "accepted" else "A.1")
        )  # fmt: skip


def repair(ledger: Ledger, slot: int, number: int, passage: str) -> None:
    name = f"g001-e{slot}"
    place = f"{name}:repairer:{number}"
    ledger.add_reading(PassageReading(RUN.id, place, "repairer", 1, name, number, ("q",), (shown(passage),), "x"))


def test_a_use_knows_the_outcome_of_its_experiment(ledger: Ledger) -> None:
    experiment(ledger, 1, ["a1", "b1"], ["rejected", "accepted"], gain=12.0, cites=["a1"])
    repair(ledger, 1, 0, "c1")
    repair(ledger, 1, 1, "c2")
    first, second, third, fourth = uses_of(ledger, RUN.id)
    assert (first.is_cited, first.is_accepted, first.gain_pct, first.is_repaired) == (True, True, 12.0, None)
    assert (second.passage.passage, second.is_cited) == ("b1", False)
    assert (third.roles, third.is_repaired) == (("repairer",), True)
    assert fourth.is_repaired is None, "no draft came after it"


def test_a_draft_that_stops_where_the_last_one_did_was_not_repaired(ledger: Ledger) -> None:
    experiment(ledger, 1, [], ["rejected", "rejected", "failed"])
    repair(ledger, 1, 0, "c1")
    (use,) = uses_of(ledger, RUN.id)
    assert use.is_repaired is False


def test_rows_by_passage_and_by_document_count_an_experiment_once(ledger: Ledger) -> None:
    experiment(ledger, 1, ["a1", "a2"], ["accepted"], gain=10.0)
    experiment(ledger, 2, ["a1"], ["failed"])
    uses = all_uses(ledger)
    rows = {row.key: row for row in by_passage(uses)}
    assert (rows["a1"].accepted.text, rows["a2"].accepted.count) == (rows["a1"].accepted.text, 1)
    assert (rows["a1"].experiments, rows["a1"].gains_pct, rows["a1"].gain_pct) == (2, (10.0,), None)
    (document,) = by_document(uses)
    assert (document.experiments, document.accepted.count, document.section) == (2, 1, "")
    assert document.plain["accepted"]["low"] < 0.5 < document.plain["accepted"]["high"]


def test_a_document_is_cited_by_any_of_its_passages_and_all_experiments_have_a_row(ledger: Ledger) -> None:
    experiment(ledger, 1, ["a1", "a2", "b1"], ["rejected", "accepted"], gain=10.0, cites=["a2"])
    repair(ledger, 1, 0, "b1")
    experiment(ledger, 2, ["b1"], ["failed"])
    uses = all_uses(ledger)
    assert {row.key: row.cited for row in by_document(uses)} == {"a": 1, "b": 0}
    whole = together(uses)
    assert whole and (whole.experiments, whole.cited, whole.accepted.count, whole.repaired.count) == (2, 1, 1, 1)
    assert together([]) is None


def test_a_rate_has_wilsons_interval() -> None:
    low, high = Rate(5, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.237, 0.763)
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert Rate(10, 10).interval[1] == 1.0


def test_only_what_an_interval_shows_moves_a_passage(ledger: Ledger) -> None:
    for slot in range(12):
        experiment(ledger, slot, ["good"], ["accepted"], gain=10.0 + slot)
    for slot in range(12, 24):
        experiment(ledger, slot, ["bad"], ["failed"])
    experiment(ledger, 30, ["once"], ["accepted"], gain=50.0)
    weights = weights_of(all_uses(ledger))
    assert weights["good"] > 1.0 > weights["bad"]
    assert "once" not in weights


def test_a_run_keeps_the_factors_that_it_began_with_and_they_move_its_passages(ledger: Ledger, tmp_path: Path) -> None:
    shelf = StoredLiterature(KnowledgeStore(tmp_path / "shelf"))
    first, *rest = shelf.search("LDS bank conflicts", 4, "gfx942")
    for slot in range(12):
        experiment(ledger, slot, [first.id], ["failed"])
        experiment(ledger, 20 + slot, [rest[0].id], ["accepted"], gain=10.0 + slot)
    artefacts = ArtefactStore(tmp_path / "artefacts", ledger)
    kept = keep_weights(ledger, artefacts)
    experiment(ledger, 50, [first.id], ["accepted"], gain=99.0)
    weights = weights_kept(kept, artefacts)
    assert set(weights) == {first.id, rest[0].id}
    found = StoredLiterature(KnowledgeStore(tmp_path / "shelf"), weights).search("LDS bank conflicts", 4, "gfx942")
    assert found[0].id != first.id
    assert weights_kept({}, artefacts) == {}
