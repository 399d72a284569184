"""A campaign on stations that only sleep: the same twice, and what the kills compare it by."""

from __future__ import annotations

from pathlib import Path

from benchmarks.campaign import campaign, parsed, summary
from benchmarks.kills import descendants, words_of
from benchmarks.simulated import said, source_of
from records.ledger import Ledger


def test_a_campaign_ends_with_the_same_ledger_and_goes_on_from_it(tmp_path: Path) -> None:
    rows = []
    for name in ("one", "two", "two"):
        asked = parsed([str(tmp_path / name), "--local", "--candidates", "4", "--picks", "2", "--seconds", "5"])
        campaign(asked.folder, asked)
        with Ledger(asked.folder / "ledger.db") as ledger:
            rows.append(summary(ledger))
    assert rows[0] == rows[1] == rows[2]
    assert len([row for row in rows[0] if str(row[0]).startswith(("g001", "g002"))]) == 4
    assert {row[1] for row in rows[0]} == {"accepted"} and len({row[3] for row in rows[0]}) == len(rows[0])


def test_a_source_says_how_long_it_takes() -> None:
    assert said(source_of("name", 2.5, 80.0)) == {"seconds": 2.5, "time_us": 80.0}


def test_a_process_that_is_not_there_has_no_words() -> None:
    assert words_of(2**22 + 1) == "" and descendants(2**22 + 1) == []
