"""What the page leads with: the gain over what the user gave, else over the best seed, and the changes between."""

from __future__ import annotations

from typing import Any

import pytest

from page import RunReader
from page.story import Story


def story_of(notebook: Any) -> Story:
    return RunReader(notebook.ledger, notebook.artefacts, notebook.run.id).book().story


def test_a_run_without_a_verified_kernel_has_no_story(notebook: Any) -> None:
    notebook.start()
    assert story_of(notebook) == Story()
    notebook.attempt(0, 0, None)
    assert story_of(notebook) == Story()


@pytest.mark.parametrize(
    ("picked_as", "origin", "gain"), [("", "seed", 2.0), ("given", "given", 5.0), ("file", "given", 5.0)]
)
def test_the_gain_is_over_what_was_given_else_over_the_best_seed(
    notebook: Any, picked_as: str, origin: str, gain: float
) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(0, 1, 50.0, picked_as=picked_as)
    notebook.attempt(1, 0, 10.0, "g000-e0-a0")
    story = story_of(notebook)
    assert (story.origin, story.gain) == (origin, pytest.approx(gain))
    assert (story.origin_us, story.best_us) == (pytest.approx(10.0 * gain), pytest.approx(10.0))
    assert [change.id for change in story.changes] == ["g001-e0-a0"]


def test_the_changes_are_those_on_the_way_to_the_best_oldest_first(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 40.0)
    notebook.attempt(1, 0, 20.0, "g000-e0-a0")
    notebook.attempt(1, 1, 30.0, "g000-e0-a0")
    notebook.attempt(2, 0, 5.0, "g001-e0-a0")
    story = story_of(notebook)
    assert [(c.parent, c.before_us, c.after_us) for c in story.changes] == [
        ("g000-e0-a0", pytest.approx(40.0), pytest.approx(20.0)),
        ("g001-e0-a0", pytest.approx(20.0), pytest.approx(5.0)),
    ]
    (_, last) = story.changes
    assert (last.title, last.reason, last.steps) == ("title", "description", ("report",))
    assert (last.bound_before, last.why_after) == ("bound", "explanation")


def test_predicted_and_measured_times_make_no_gain(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 40.0)
    notebook.attempt(1, 0, 20.0, "g000-e0-a0", kind="measured")
    story = story_of(notebook)
    assert (story.gain, story.changes[0].before_us) == (None, None)
