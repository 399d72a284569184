"""The event log: whole lines from several threads, no key, and two files at most."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from records.errors import LedgerError
from records.event_log import EARLIER, NAME, EventLog

CANARY = "sk-canary-7c1f0e5d9b3a"


def lines(folder: Path, name: str = NAME) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_each_event_is_a_line_with_its_moment_and_its_run(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "run-1", "run-1", ())
    assert not (tmp_path / "run-1").exists()
    log({"event": "attempt", "status": "accepted", "geomean_us": 2.5, "reason": "a\nb \ud800"})
    [line] = lines(tmp_path / "run-1")
    assert list(line)[:3] == ["at", "run", "event"] and str(line["at"]).endswith("+00:00")
    assert (line["run"], line["event"], line["geomean_us"], line["reason"]) == (
        "run-1",
        "attempt",
        2.5,
        "a\nb ⟨U+D800⟩",
    )


def test_no_key_is_in_it(tmp_path: Path) -> None:
    EventLog(tmp_path, "run-1", (CANARY,))({"event": "warning", "message": f"the key {CANARY} was refused"})
    assert CANARY not in (tmp_path / NAME).read_text()
    assert lines(tmp_path)[0]["message"] == "the key [removed] was refused"


def test_threads_do_not_mix_lines_and_a_full_file_begins_again(tmp_path: Path) -> None:
    log = EventLog(tmp_path, "run-1", (), most_bytes=20_000)

    def write(number: int) -> None:
        for n in range(100):
            log({"event": "stage", "number": number, "n": n})

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = lines(tmp_path, EARLIER) + lines(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [EARLIER, NAME]
    assert all(p.stat().st_size <= 20_000 for p in tmp_path.iterdir())
    for number in range(4):  # the last of each thread are there, in their order
        seen = [line["n"] for line in kept if line["number"] == number]
        assert seen == list(range(100 - len(seen), 100)) and seen


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run-1").write_text("a file")
    with pytest.raises(LedgerError, match="cannot be written"):
        EventLog(tmp_path / "run-1", "run-1", ())({"event": "begun"})
