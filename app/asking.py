"""Questions at a terminal, each with an answer that Enter takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from app.screen import is_terminal, note
from records.errors import UsageError

if TYPE_CHECKING:
    from app.optimising import UserFile


def can_ask() -> bool:
    """Tell whether somebody is there to answer."""
    return sys.stdin.isatty() and is_terminal(stderr=True)


def choose(words: str, offer: str, choices: tuple[str, ...] = ()) -> str:
    """Ask for a line until it is one of the choices, where there are some; typer.Abort on Ctrl-C and at the end."""
    text = f"{words} ({', '.join(choices)})" if choices else words
    while True:
        line = str(typer.prompt(text, default=offer or None, err=True)).strip()
        if not choices or line in choices:
            return line
        note(f"one of {', '.join(choices)}, please")


def complete(user_file: UserFile) -> UserFile:
    """Ask for all that is open; an answer that cannot be is told and asked for again."""
    from app.open_questions import next_question

    while (question := next_question(user_file)) is not None:
        try:
            user_file = question.answered(choose(question.words, question.offer, question.choices))
            _ = user_file.location
        except UsageError as error:
            note(str(error))
    return user_file
