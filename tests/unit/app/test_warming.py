from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from app.warming import warming
from records.errors import ToolchainError


class Lab:
    """A sandbox that takes until it is told to make what it needs."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error, self.may_end, self.warmed = error, threading.Event(), list[str]()

    def warm(self, progress: Callable[[str], None]) -> None:
        assert self.may_end.wait(20.0)
        progress("ready")
        if self.error is not None:
            raise self.error
        self.warmed.append("ready")


def test_a_lab_makes_what_it_needs_beside_other_work_and_before_anything_is_asked_of_it() -> None:
    lab = Lab()
    with warming(lab):
        assert lab.warmed == []
        lab.may_end.set()
    assert lab.warmed == ["ready"]
    with warming(object()):
        pass  # a GPU needs nothing


def test_what_is_wrong_is_left_to_the_first_compilation_and_other_errors_are_no_secret() -> None:
    lab = Lab(ToolchainError("there is no compiler"))
    with warming(lab):
        lab.may_end.set()
    assert lab.warmed == []
    lab = Lab()
    with pytest.raises(KeyboardInterrupt), warming(lab):
        lab.may_end.set()
        raise KeyboardInterrupt
    assert lab.warmed == ["ready"], "nobody is left behind"
