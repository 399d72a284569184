"""A new run keeps what it was told, so that a resumed one asks the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.remembered import keep_recalled, recalled_of, winners_of
from app.settings import load_settings
from records.errors import UsageError
from records.memories import Recollection
from tasks.loader import load_task

TASK = load_task("row_softmax")
SETTINGS = load_settings(api_key="sk-secret-123")


def remember(notebook: Any, kind: str, slot: int, time_us: float) -> None:
    attempt = notebook.attempt(1, slot, time_us, source=f"// {slot}\n")
    notebook.ledger.remember(
        [
            Recollection(
                f"{slot:064}",
                kind,
                "run-1",
                attempt.id,
                TASK.name,
                TASK.digest,
                "mi300x",
                TASK.title,
                "2026-11-22",  # type: ignore[arg-type]
            )
        ]
    )


def keep(notebook: Any, tokens: int = 600, begin_with: bool = False) -> dict[str, str]:
    stores = notebook.ledger, notebook.artefacts
    return dict(keep_recalled(SETTINGS, TASK, "mi300x", tokens, stores, begin_with))


def test_what_a_run_is_told_stays_as_it_was_when_it_began(notebook: Any) -> None:
    notebook.texts = lambda name: f"{name} of {Path.home()}/x with sk-secret-123"
    notebook.start()
    remember(notebook, "winner", 1, 40.0)
    config = keep(notebook)
    (line,) = recalled_of(config, notebook.artefacts)
    assert "run-1" not in line and "kernel g001-e1-a0" in line, "an id that is none of ours is not told"
    assert ("sk-secret" in line, str(Path.home()) in line) == (False, False), "no word of the title is told"
    remember(notebook, "winner", 2, 30.0)
    notebook.ledger.withdraw(f"{1:064}", "2026-11-23: wrong")
    assert recalled_of(config, notebook.artefacts) == (line,)
    assert "g001-e2-a0" in recalled_of(keep(notebook), notebook.artefacts)[0]


def test_a_run_begins_with_the_fastest_winners_where_it_is_asked_to(notebook: Any) -> None:
    notebook.start()
    for slot, time_us in ((1, 40.0), (2, 30.0), (3, 35.0)):
        remember(notebook, "winner", slot, time_us)
    assert winners_of(keep(notebook)) == ()
    winners = winners_of(keep(notebook, begin_with=True))
    assert [(g.title, g.kind) for g in winners] == [
        ("winner g001-e2-a0 of run run-1", "memory"),
        ("winner g001-e3-a0 of run run-1", "memory"),
    ]
    assert notebook.artefacts.text(winners[0].source) == "// 2\n"


def test_without_memory_nothing_is_told_and_nothing_begun_with(notebook: Any) -> None:
    notebook.start()
    assert keep(notebook) == {}
    with pytest.raises(UsageError, match="no earlier run has a winner"):
        keep(notebook, begin_with=True)
    remember(notebook, "winner", 1, 40.0)
    assert keep(notebook, tokens=0) == {}
    with pytest.raises(UsageError, match="--memory 0"):
        keep(notebook, tokens=0, begin_with=True)
