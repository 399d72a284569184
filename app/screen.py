"""Output for people: answers on standard output, progress on standard error. No colour unless at a terminal."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from records.outside_text import escaped, visible
from records.quantity import format_times as format_times
from records.quantity import format_us as format_us

if TYPE_CHECKING:
    from rich.console import Console

    from records.experiment import Credit

SECOND_COLUMN = re.compile(r" *\S+(?: \S+)* {2,}")


def is_terminal(stderr: bool = False) -> bool:
    """Tell whether the output is a terminal, so that lines may be redrawn."""
    return (sys.stderr if stderr else sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def is_unread() -> bool:
    """Tell whether standard output or standard error is a pipe without a reader."""
    return bool(_unread())


def hush() -> None:
    """Discard output that still waits for such a pipe; the interpreter would complain of it at its end."""
    for number in _unread():
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def say(text: str = "") -> None:
    """One line on standard output."""
    _write(sys.stdout, _fitting(sys.stdout, visible(text)) + "\n")


def note(text: str) -> None:
    """One line on standard error."""
    _write(sys.stderr, _fitting(sys.stderr, visible(text)) + "\n")


def folded(text: str, width: int) -> str:
    """Break lines that are too long between words; what goes on stands below the second column, where there is one."""
    return "\n".join(_folded(line, width) if len(line) > width else line for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip(" "))
    column = SECOND_COLUMN.match(line)
    hang = column.end() if column and column.end() <= width // 2 else indent if indent <= width // 2 else 0
    if max(map(len, line.split()), default=0) > width - hang:
        return line  # a path or a command, which is copied: the terminal breaks it without a new line in it
    parts = wrap(line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts)


def _fitting(stream: Any, text: str) -> str:
    return folded(text, shutil.get_terminal_size().columns) if stream.isatty() else text


def emit(value: Any) -> None:
    """Print the JSON answer of a command on standard output."""
    _write(sys.stdout, escaped(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n")


def console(stderr: bool = False) -> Console:
    """Make a rich console that honours NO_COLOR and plain pipes."""
    from rich.console import Console

    plain = not is_terminal(stderr) or bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, no_color=plain, highlight=False, markup=False, emoji=False)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Aligned columns on standard output; `right` are the columns of numbers."""
    cells = [list(headings), *[[visible(cell).replace("\n", " ") for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    for row in cells:
        parts = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        say("  ".join(parts).rstrip())


def parts_text(credit: Credit) -> str:
    """Write the parts of a gain: what the idea gave, at equal tunables where that is known, and what the tuner gave."""
    parts = [f"idea {_percent(credit.idea_pct)}"] if credit.idea_pct is not None else []
    if credit.equal_pct is not None and credit.equal_pct != credit.idea_pct:
        parts.append(f"at equal tunables {_percent(credit.equal_pct)}")
    if credit.shown_pct is not None and credit.shown_pct != credit.idea_pct:
        parts.append(f"the change itself {_percent(credit.shown_pct)}")
    if credit.tuner_pct is not None:
        parts.append(f"tuner {_percent(credit.tuner_pct)}")
    return ", ".join(parts) or "parts not known"


def _percent(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f} %"  # no minus before a zero


def heading(title: str) -> str:
    """Return an experiment's title without the fingerprint by which the playbook finds earlier trials on its kernel."""
    return re.sub(r"(\[[a-z_]+:[\w.+]+) on [0-9a-f]{8}\]", r"\1]", title)


def format_seconds(seconds: float) -> str:
    """Elapsed time for people."""
    elapsed = int(seconds)
    return f"{elapsed // 3600}h {elapsed % 3600 // 60:02}m" if elapsed >= 3600 else f"{elapsed // 60}:{elapsed % 60:02}"


def _unread() -> list[int]:
    broken = []
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream without a file
            poller = select.poll()
            poller.register(stream.fileno(), select.POLLOUT)
            broken += [number for number, event in poller.poll(0) if event & (select.POLLERR | select.POLLHUP)]
    return broken


def _write(stream: Any, text: str) -> None:
    stream.write(text.encode(stream.encoding or "utf-8", "replace").decode(stream.encoding or "utf-8"))
    stream.flush()
