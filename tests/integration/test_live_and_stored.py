"""A record that was just made is to the letter the one that another process reads: so prompts are the same in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.conversation import RawReply
from agents.scientist.views import evidence_of
from records.codec import as_stored, dumps, loads
from records.evaluation import Comparison, Evaluation, HotLine, Verdict
from records.experiment import Attempt, Event, Experiment, ModelCall, Proposed, Run
from records.ledger import Ledger
from records.literature import PassageReading, Quotation
from records.memories import Recollection

KINDS: tuple[type[Any], ...] = (
    *(Run, Experiment, Proposed, Attempt, ModelCall, Event, Evaluation, Comparison, PassageReading, Quotation),
    *(Recollection, RawReply),
)
RUN = Run("r", "t", "mi300x", "lab", "llm", 1)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_record_passes_the_codec_before_its_first_use(kind: type[Any], data: st.DataObject) -> None:
    record = data.draw(st.from_type(kind))
    live = as_stored(record)
    assert dumps(live) == dumps(record)
    assert repr(live) == repr(loads(kind, dumps(live))), "the order of each mapping too, and the type of each number"


def shuffled(key: str) -> Evaluation:
    """An evaluation whose mappings are in an order that no text has."""
    hot = HotLine(
        1,
        "k",
        {"stall_us": 3.0, "misses": 2.0, "instructions": 1.0},
        {"stall_us": 0.5, "misses": 0.9, "instructions": 0.9},
    )
    return Evaluation(
        key, "c", {"Z": 1, "A": 2}, Verdict("time", True, "OK"), counters={"b": 1, "a": 2}, hot_lines=(hot,)
    )


def test_the_ledger_returns_what_another_process_reads(tmp_path: Path) -> None:
    attempt = Attempt("a", "r", "g001-e1", 1, 0, "c", "s", "accepted", "k", tunables={"Z": 1, "A": 2}, geomean_us=3)
    with Ledger(tmp_path / "ledger.db") as ledger, Ledger(tmp_path / "ledger.db") as other:
        ledger.add_run(RUN)
        live: list[Any] = [ledger.add_evaluation("r", shuffled("k")), ledger.add_attempt(attempt)]
        live += [ledger.evaluation("k"), ledger.attempt("r", "a"), *ledger.attempts("r")]
        read = [other.evaluation("k"), other.attempt("r", "a"), other.evaluation("k"), other.attempt("r", "a")]
        assert list(map(repr, live)) == list(map(repr, [*read, *other.attempts("r")]))


def test_the_evidence_of_a_prompt_is_the_same_to_the_letter(tmp_path: Path) -> None:
    """The costs of a line came in the order in which the lab counted them, and later in that of the alphabet."""
    with Ledger(tmp_path / "ledger.db") as ledger, Ledger(tmp_path / "ledger.db") as other:
        ledger.add_run(RUN)
        live, read = ledger.add_evaluation("r", shuffled("k")), other.evaluation("k")
        assert read is not None
        assert repr(evidence_of(live, "int x;\n", {})) == repr(evidence_of(read, "int x;\n", {}))
        assert evidence_of(live, "int x;\n", {})["hot_lines"]
