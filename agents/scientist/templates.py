"""Prompts are Jinja files in `prompts/`; a name that a template uses without a value is an error, not a blank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from agents.model.conversation import Message, Spare
from records.quantity import counted, plain

FOLDER = Path(__file__).parent / "prompts"
# Sections that a small window has no room for, by the beginnings of their headings, least important first.
SPARE = (
    "From earlier runs",
    "Passages from the literature",
    "The fastest kernels so far",
    "What the model of the GPU charges",
    "A kernel to learn from",
    "What this run has learnt",
    "What bites on",
)


@cache
def _environment(*folders: Path) -> jinja2.Environment:
    # No autoescape: the product is a prompt, and source code must reach it as it is.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, FOLDER]),
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
    """Fill in the system and the user message of one agent; jinja2.UndefinedError when a value is missing."""
    texts = [(role, rendered(f"{name}.{role}.md.j2", **values)) for role in ("system", "user")]
    return tuple(Message(role, text, spare=spare_in(text)) for role, text in texts)  # type: ignore[arg-type]


def spare_in(text: str) -> tuple[Spare, ...]:
    """List the sections of a prompt that may be left out, least important first."""
    headed_sections = list(sections(text))
    return tuple(
        Spare(beginning.lower(), section)
        for beginning in SPARE
        for heading, section in headed_sections
        if heading.startswith(beginning)
    )


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Heading and text of each section; a line in a fenced block is no heading."""
    heading, lines, fence = "", list[str](), ""
    for line in text.splitlines(keepends=True):
        mark = re.match(r"`{3,}|~{3,}", line)
        if mark and (not fence or mark[0].startswith(fence)):
            fence = "" if fence else mark[0]
        if line.startswith("# ") and not fence:
            if heading:
                yield heading, "".join(lines).rstrip()
            heading, lines = line[2:].strip(), []
        lines.append(line)
    if heading:
        yield heading, "".join(lines).rstrip()


def rendered(template: str, /, **values: Any) -> str:
    """One template by its file name; jinja2.UndefinedError when a value is missing."""
    return _environment().get_template(template).render(**values).strip()


def rendered_of(folder: Path, template: str, /, **values: Any) -> str:
    """One template of another folder, which may include those of this one."""
    return _environment(folder).get_template(template).render(**values).strip()


def quoted(text: str) -> str:
    """Every line behind a bar, so that no line of it can pass for one of ours."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def numbered(text: str, first: int = 1, marks: tuple[int, ...] = ()) -> str:
    """Write the text with line numbers, marked lines pointed at."""
    return "\n".join(f"{'>' if n in marks else ' '}{n:5d} | {line}" for n, line in enumerate(text.splitlines(), first))


def excerpt(text: str, lines: tuple[int, ...], around: int = 6) -> str:
    """Numbered lines around each of `lines`, with gaps shown; the whole text when no line is known."""
    rows = text.splitlines()
    if not lines:
        return numbered(text)
    line_numbers = sorted({n for line in lines for n in range(line - around, line + around + 1) if 1 <= n <= len(rows)})
    out: list[str] = []
    for before, n in zip([0, *line_numbers], line_numbers, strict=False):
        if n != before + 1:
            out.append("      ...")
        out.append(numbered(rows[n - 1], n, lines) if rows[n - 1] else f"{'>' if n in lines else ' '}{n:5d} |")
    return "\n".join(out)
