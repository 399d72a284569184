"""The changes between the kernel that the gain is told over and the best one, each with what bound it."""

from __future__ import annotations

from typing import Any

import pytest

from page import RunReader
from page.winning_changes import WinningChange


def changes_of(notebook: Any) -> tuple[WinningChange, ...]:
    return RunReader(notebook.ledger, notebook.artefacts, notebook.run.id).book().changes


def test_without_a_faster_kernel_there_are_none(notebook: Any) -> None:
    notebook.start()
    assert changes_of(notebook) == ()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 25.0, "g000-e0-a0")
    assert changes_of(notebook) == ()


def test_they_are_the_ancestors_of_the_best_oldest_first(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 40.0)
    notebook.attempt(1, 0, 20.0, "g000-e0-a0")
    notebook.attempt(1, 1, 30.0, "g000-e0-a0")
    notebook.attempt(2, 0, 5.0, "g001-e0-a0")
    changes = changes_of(notebook)
    assert [(c.parent, c.before_us, c.after_us) for c in changes] == [
        ("g000-e0-a0", pytest.approx(40.0), pytest.approx(20.0)),
        ("g001-e0-a0", pytest.approx(20.0), pytest.approx(5.0)),
    ]
    (_, last) = changes
    assert (last.title, last.reason, last.steps) == ("title", "description", ("report",))
    assert (last.bound_before, last.why_after) == ("bound", "explanation")


def test_predicted_and_measured_times_stand_in_no_ratio(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 40.0)
    notebook.attempt(1, 0, 20.0, "g000-e0-a0", kind="measured")
    (change,) = changes_of(notebook)
    assert (change.before_us, change.after_us) == (None, pytest.approx(20.0))
