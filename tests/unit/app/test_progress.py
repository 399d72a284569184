from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from app.progress import Watcher

EVENTS: tuple[dict[str, Any], ...] = (
    {"event": "generation", "generation": 1, "of": 4, "usd": 0.0},
    {"event": "selected", "generation": 1, "base": "g000-e0-a0", "reference": None, "why": "the fastest", "usd": 0.1},
    {"event": "planned", "generation": 1, "experiments": "g001-e0, g001-e1", "usd": 0.2},
    {"event": "stage", "generation": 1, "experiment": "g001-e0", "stage": "compile", "number": 1, "usd": 0.25},
    {
        "event": "attempt",
        "experiment": "g001-e0",
        "attempt": "g001-e0-a1",
        "status": "accepted",
        "geomean_us": 8.0,
        "time_kind": "predicted",
        "code": "OK",
        "reason": "",
        "idea_pct": 3.1,
        "equal_pct": 0.0,
        "tuner_pct": 33.0,
        "usd": 0.25,
    },
    {
        "event": "attempt",
        "experiment": "g001-e1",
        "attempt": "g001-e1-a0",
        "status": "failed",
        "geomean_us": None,
        "time_kind": None,
        "code": "C.1",
        "reason": "sum is\nwrong \x1b[2J",
        "usd": 0.25,
    },
    {
        "event": "best",
        "generation": 1,
        "attempt": "g001-e0-a1",
        "best_us": 8.0,
        "time_kind": "predicted",
        "over_seed": 1.25,
        "over_naive": 2.5,
        "usd": 0.25,
    },
    {"event": "something new", "usd": 0.3},
    {"event": "stopped", "reason": "all 4 generations are used", "usd": 0.3},
)


def watch(notebook: Any, stderr: bool) -> Watcher:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 8.0, "g000-e0-a0")
    watcher = Watcher(notebook.run, notebook.ledger, stderr)
    with watcher.watching():
        for event in EVENTS:
            watcher(event)
    return watcher


def test_without_a_terminal_each_event_is_a_line(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    watch(notebook, stderr=False)
    out, err = capsys.readouterr()
    lines = [line.split("] ", 1)[1] for line in out.splitlines()]
    assert lines == [
        "generation 1 of 4",
        "  building on g000-e0-a0: the fastest",
        "  planned g001-e0 title; g001-e1",
        "  g001-e0 compile (repair 1)",
        "  g001-e0-a1 accepted: 8 us predicted; idea +3.1 %, at equal tunables +0.0 %, tuner +33.0 %",
        "  g001-e1-a0 failed: C.1 sum is wrong ⟨U+001B⟩[2J",
        "  best so far 8 us predicted, 1.25x the best seed, 2.50x the naive one",
        "stopped: all 4 generations are used",
    ]
    assert err == ""


def test_with_json_asked_for_the_lines_go_to_standard_error(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    watch(notebook, stderr=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "generation 1 of 4" in err


def test_the_table_shows_generation_stages_best_and_spend(notebook: Any) -> None:
    watcher = watch(notebook, stderr=False)
    screen = Console(width=120, record=True, no_color=True, file=StringIO())
    screen.print(watcher._render())
    text = screen.export_text()
    for expected in (
        "generation 1/4",
        "8 us predicted",
        "1.25x the best seed",
        "$0.30",
        "g001-e0",
        "accepted",
        "failed",
    ):
        assert expected in text
