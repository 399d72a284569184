"""A campaign on stations that only sleep: the same twice, and what the kills compare it by."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from benchmarks.campaign import campaign, parsed, summary
from benchmarks.kill_site import words_of
from benchmarks.kills import SHARES, compared, figures, order
from benchmarks.processes import descendants
from benchmarks.simulated import source_of, values_in
from records.ledger import Ledger


def test_a_campaign_ends_with_the_same_ledger_and_goes_on_from_it(tmp_path: Path) -> None:
    rows = []
    for name in ("one", "two", "two"):
        options = parsed([str(tmp_path / name), "--local", "--candidates", "4", "--picks", "2", "--seconds", "5"])
        campaign(options.folder, options)
        with Ledger(options.folder / "ledger.db") as ledger:
            rows.append(summary(ledger))
    assert rows[0] == rows[1] == rows[2]
    assert len([row for row in rows[0] if str(row[0]).startswith(("g001", "g002"))]) == 4
    assert {row[1] for row in rows[0]} == {"accepted"} and len({row[3] for row in rows[0]}) == len(rows[0])


def test_a_source_says_how_long_it_takes() -> None:
    assert values_in(source_of("name", 2.5, 80.0)) == {"seconds": 2.5, "time_us": 80.0}


def test_a_process_that_is_not_there_has_no_words() -> None:
    assert words_of(2**22 + 1) == "" and descendants(2**22 + 1) == []


def test_kills_of_every_sort_are_spread_over_the_run() -> None:
    for kills in (8, 20, 99):
        drawn = order(kills, random.Random(kills))
        assert len(drawn) == kills
    counts = Counter(drawn)
    assert set(counts) == set(SHARES) and min(counts.values()) >= 3
    assert set(drawn[:50]) == set(SHARES) == set(drawn[49:])


def test_ledgers_differ_by_what_is_lost_added_doubled_or_blamed() -> None:
    right = [["a", "accepted", 1.0, "k"], ["b", "accepted", 2.0, "l"]]
    assert set(compared(right, right).values()) == {2, 0}
    ours = [["a", "accepted", 1.0, "k"], ["a", "accepted", 1.0, "k"], ["c", "rejected", None, "m"]]
    assert compared(ours, right) == {"attempts": 2, "lost": 1, "added": 1, "doubled": 1, "blamed": 1}


def test_a_recovery_counts_where_nothing_else_was_being_recovered() -> None:
    rows = [
        {"what": "head", "stage": "judging", "at_s": 1.0, "recovery_s": 20.0, "is_clean": True},
        {"what": "head", "stage": "between", "at_s": 30.0},
        {"what": "head", "stage": "starting", "at_s": 31.0, "recovery_s": 50.0, "is_clean": False},
    ]
    ledger = {"attempts": 9, "lost": 0, "added": 0, "doubled": 0, "blamed": 0}
    by_name = {figure.figure: figure for figure in figures({"kills": rows, "ledger": ledger})}
    assert by_name["kills.total"].met is False and by_name["kills.lost"].met is True
    assert by_name["kills.recovery_head"].value == 20.0 == by_name["kills.recovery_head"].anchor_value
    assert {name for name in by_name if "while" in name} == {
        f"kills.while_{s}" for s in ("judging", "between", "starting")
    }
