"""Prompts are Jinja files in `prompts/`; a name that a template uses without a value is an error, not a blank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from agents.model.conversation import Message
from records.quantity import counted, plain

FOLDER = Path(__file__).parent / "prompts"


@cache
def _environment() -> jinja2.Environment:
    # No autoescape: the product is a prompt, and source code must reach it as it is.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["numbered"] = numbered
    environment.filters["quoted"] = quoted
    environment.filters["us"] = plain
    environment.globals["counted"] = counted
    return environment


def conversation(name: str, **values: Any) -> tuple[Message, ...]:
    """The system and the user message of one agent; jinja2.UndefinedError when a value is missing."""
    return tuple(Message(role, rendered(f"{name}.{role}.md.j2", **values)) for role in ("system", "user"))


def rendered(template: str, /, **values: Any) -> str:
    """One template by its file name; jinja2.UndefinedError when a value is missing."""
    return _environment().get_template(template).render(**values).strip()


def quoted(text: str) -> str:
    """Every line behind a bar, so that no line of it can pass for one of ours."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def numbered(text: str, first: int = 1, marks: tuple[int, ...] = ()) -> str:
    """The text with line numbers, marked lines pointed at."""
    return "\n".join(f"{'>' if n in marks else ' '}{n:5d} | {line}" for n, line in enumerate(text.splitlines(), first))


def excerpt(text: str, lines: tuple[int, ...], around: int = 6) -> str:
    """Numbered lines around each of `lines`, with gaps shown; the whole text when no line is known."""
    rows = text.splitlines()
    if not lines:
        return numbered(text)
    shown = sorted({n for line in lines for n in range(line - around, line + around + 1) if 1 <= n <= len(rows)})
    out: list[str] = []
    for before, n in zip([0, *shown], shown, strict=False):
        if n != before + 1:
            out.append("      ...")
        out.append(numbered(rows[n - 1], n, lines) if rows[n - 1] else f"{'>' if n in lines else ' '}{n:5d} |")
    return "\n".join(out)
