"""The page of one run in one file: the style sheet, the program and the data in it, and nothing from outside."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from page.cleaning import as_json, cleaned, json_of
from page.run_reader import RunReader
from page.sheets import Disassemble, Machine, RunBook
from records.codec import to_plain
from records.errors import LedgerError, ScientistError
from records.files import write_whole

FOLDER = Path(__file__).parent / "browser"
SCRIPTS = (
    "dom.js",
    "terms.js",
    "tabs.js",
    "steps.js",
    "difference.js",
    "data.js",
    "plot.js",
    "lineage.js",
    "listing.js",
    "times.js",
    "story.js",
    "overview.js",
    "candidate.js",
    "candidates.js",
    "rooflines.js",
    "findings.js",
    "spending.js",
    "comparing.js",
    "main.js",
)
PIECE = 32  # candidates, or calls, that are packed together: what one click unpacks
SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{style}
</head>
<body>
<noscript><p>This page needs JavaScript. {summary}</p></noscript>
{script}
</body>
</html>
"""


def style() -> str:
    """Read the style sheet."""
    return (FOLDER / "page.css").read_text(encoding="utf-8")


def script() -> str:
    """Read the program: all scripts in one scope of their own."""
    parts = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def served_shell() -> str:
    """Write the document that the server hands out; style and program are files beside it."""
    return SHELL.format(
        policy="",
        title="Kernel Scientist",
        style='<link rel="stylesheet" href="page.css">',
        summary="",
        script='<script src="page.js" defer></script>',
    )


def render(reader: RunReader, disassemble: Disassemble | None = None) -> str:
    """Write the page as text. Machine code is in it for the candidates that led, where `disassemble` has it."""
    book, extras = reader.book(), reader.extras
    css, js = style(), script()
    sheets = [to_plain(sheet) for sheet in reader.sheets()]
    blocks = [
        _block("application/json", "book", as_json(book, extras)),
        *_packed("sheets", sheets, reader),
        *_packed("calls", [to_plain(text) for text in reader.texts()], reader),
        *_packed("machines", [_machines(reader, book, disassemble)], reader),
    ]
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(css)}'; script-src 'sha256-{_digest(js)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return SHELL.format(
        policy=f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        title=_text(f"{book.head.task}, {book.head.id}", reader),
        style=f"<style>{css}</style>",
        summary=_text(_summary(book), reader),
        script="\n".join([*blocks, f"<script>{js}</script>"]),
    )


def write_report(reader: RunReader, path: Path, disassemble: Disassemble | None = None) -> Path:
    """Write the page beside its place and rename it there; LedgerError when the folder cannot be written to."""
    text = render(reader, disassemble)
    try:
        write_whole(path, text.encode(), is_public=True)
    except OSError as error:
        raise LedgerError(
            f"the report {path} cannot be written ({error.strerror}); choose another place with --out"
        ) from None
    return path


def _machines(reader: RunReader, book: RunBook, disassemble: Disassemble | None) -> dict[str, Any]:
    """Machine code by candidate, for those that led in their turn; none where it is not at hand."""
    machines = dict[str, Any]()
    for line in book.lines if disassemble else ():
        if line.is_record and disassemble is not None:
            try:
                machine = disassemble(*reader.source_of(line.id))
            except ScientistError as error:
                machine = Machine(refusal=str(error))
            machines[line.id] = to_plain(machine)
    return machines


def _packed(name: str, values: Sequence[Any], reader: RunReader) -> Iterator[str]:
    """Blocks of compressed JSON, some values each; equal values give equal text."""
    for first in range(0, len(values), PIECE):
        text = json_of(values[first : first + PIECE], reader.extras)
        data = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
        yield _block("application/gzip", f"{name}-{first // PIECE}", data)


def _block(kind: str, name: str, text: str) -> str:
    """Write a block of data, which no browser runs."""
    return f'<script type="{kind}" id="{name}">{text}</script>'


def _summary(book: RunBook) -> str:
    head = book.head
    best = f"best {head.best_us:.4g} us {head.kind}" if head.best_us else "nothing was timed"
    return f"Run {head.id} of {head.task} for {head.target}: {head.status}, {head.candidates} candidates, {best}."


def _text(text: str, reader: RunReader) -> str:
    return escape(cleaned(text, reader.extras))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
