"""Approval at a terminal: the questions of a run that asks, and their answers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.screen import is_terminal, note

if TYPE_CHECKING:
    from graph.question import Question

Pause = Callable[[], contextlib.AbstractContextManager[None]]  # of the live table, which would draw over the question


def asking(pause: Pause, says_yes: bool = False) -> Callable[[Question], Any]:
    """Answers a run's questions: at a terminal by asking; elsewhere with None, on which the run pauses.

    `says_yes` approves the experiments that wait now, and asks for what follows.
    """
    says = {"yes": says_yes}  # once

    def ask(question: Question) -> Any:
        if question.kind == "experiments" and says.pop("yes", False):
            return True
        if not sys.stdin.isatty() or not is_terminal(stderr=True):
            return None
        with pause():
            return _budget(question) if question.kind == "budget" else _experiments(question)

    return ask


def _experiments(question: Question) -> Any:
    ids = [str(row["id"]) for row in question.experiments]
    for number, row in enumerate(question.experiments, 1):
        note(f"  {number}  {row['title']} ({row['gain_min_pct']:g} to {row['gain_max_pct']:g} % expected)")
    while True:
        reply = read_line(f"run these experiments ({spent(question)})? [y]es, [n]one, their numbers, or [p]ause: ")
        answer = experiments_answer(reply, ids)
        if answer is not ...:
            return answer


def experiments_answer(reply: str, ids: list[str]) -> Any:
    """Read the answer in the words of the graph; None to pause, `...` where it cannot be read."""
    word = reply.strip().lower()
    if word in ("p", "pause"):
        return None
    if word in ("y", "yes", "n", "none", "no"):
        return word[0] == "y"
    numbers = word.replace(",", " ").split()
    if numbers and all(n.isdecimal() and 1 <= int(n) <= len(ids) for n in numbers):
        return [ids[int(n) - 1] for n in numbers]
    return ...


def _budget(question: Question) -> Any:
    note(question.message)
    while True:
        reply = read_line(f"the new limit in dollars for the whole run ({spent(question)}), or [p]ause: ").strip()
        if reply.lower() in ("p", "pause"):
            return None
        with contextlib.suppress(ValueError):
            return float(reply.removeprefix("$"))


def spent(question: Question) -> str:
    """Write the cost so far, in words."""
    return f"${question.spent_usd:.2f} spent so far"


def read_line(prompt: str) -> str:
    """Read a line from the terminal; `pause` at its end."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return sys.stdin.readline() or "pause"
