"""The diary of a run: its order, events that are written once, and the part that a branch takes over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from records.experiment import Proposed, Run
from records.ledger import Ledger
from tests.support.ledgers import Opening

RUN, OTHER = (Run(name, "row_softmax", "mi300x", "lab", "playbook", 7) for name in ("one", "other"))


@pytest.fixture
def ledger(opening: Opening) -> Iterator[Ledger]:
    with opening() as opened:
        for run in (RUN, OTHER):
            opened.add_run(run)
        yield opened


def test_events_are_read_in_their_order_from_a_number_on(ledger: Ledger) -> None:
    assert ledger.last_event() == ledger.last_event(RUN.id) == 0
    for number in range(3):
        assert ledger.event(RUN.id, "stage", {"number": number})
    assert ledger.event(OTHER.id, "stage", {"number": 9}, is_synced=False)
    events = ledger.events(RUN.id)
    assert [e.payload["number"] for e in events] == [0, 1, 2]
    assert [e.payload["number"] for e in ledger.events(RUN.id, events[0].number)] == [1, 2]
    assert ledger.events(RUN.id, events[2].number) == ()
    assert ledger.last_event(RUN.id) == events[2].number < ledger.last_event() == ledger.last_event(OTHER.id)


def test_an_event_with_a_key_is_written_once(ledger: Ledger) -> None:
    assert ledger.event(RUN.id, "allowed", {"usd": 3}, "k") and not ledger.event(RUN.id, "allowed", {"usd": 4}, "k")
    assert ledger.event(OTHER.id, "allowed", {"usd": 5}, "k"), "the key is one run's"
    found = ledger.event_of(RUN.id, "k")
    assert found is not None and (found.kind, found.payload, found.number) == ("allowed", {"usd": 3}, 1)
    assert found == ledger.events(RUN.id)[0] and ledger.event_of(RUN.id, "other") is None


def test_a_branch_takes_over_the_events_of_its_generations_once(ledger: Ledger) -> None:
    for generation in (0, 1, 2):
        ledger.event(RUN.id, "generation", {"generation": generation}, f"g{generation}")
    ledger.event(RUN.id, "stopped", {"reason": "done"})
    ledger.event(RUN.id, "odd", {"generation": None})
    for _ in range(2):
        ledger.copy_events(RUN.id, OTHER.id, 1)
    assert [e.payload for e in ledger.events(OTHER.id)] == [{"generation": 0}, {"generation": 1}]
    assert [e.at for e in ledger.events(OTHER.id)] == [e.at for e in ledger.events(RUN.id)][:2]
    assert len(ledger.events(RUN.id)) == 5


def test_the_first_proposals_of_a_generation_stay(ledger: Ledger) -> None:
    first = tuple(Proposed(RUN.id, 1, f"g000-e{slot}-a0", f"idea {slot}", "why") for slot in (2, 1))
    ledger.add_proposals(RUN.id, 1, first)
    ledger.add_proposals(RUN.id, 1, first[:1])
    assert ledger.proposals(RUN.id, 1) == first
    assert ledger.proposals(RUN.id, 2) == () == ledger.proposals(OTHER.id, 1)
