"""Conditions in a public file that ask for a name which nothing here defines: the other branch is compiled, in silence.

A build gives such names on its command line or in a header that is not beside the file. Where device code stands behind
one of them, the kernel that is judged may be another than the user's. Only files with a host half, or with headers that
were left out, are asked: a kernel that was written for this judge says itself what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.candidate.header_names import INCLUDE
from sandbox.candidate.host_headers import headers_not_here
from sandbox.candidate.parse import normalise
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

_ASKS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})
_OPERATORS = frozenset({"defined", "true", "false", "and", "or", "not"})
_UNDEFINED = frozenset({"WIN32", "NDEBUG", "CUDA_VERSION", "CUDART_VERSION"})  # for any build of HIP on Linux
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_GUESSED = re.compile(r"[A-Za-z]\w*")  # names that begin with an underscore are the compilers'


@dataclass(frozen=True)
class GuessedBranch:
    """A name that nothing defines, and the lines of conditions with device code that ask for it."""

    name: str
    lines: tuple[int, ...]


def guessed_branches(source: str) -> tuple[GuessedBranch, ...]:
    """List the names by which device code of a public file is chosen, and which neither the file nor HIP defines."""
    return _guessed(normalise(source), source)


def _guessed(text: str, source: str) -> tuple[GuessedBranch, ...]:
    if not headers_not_here(text) and _lines_of(text) >= _lines_of(source):
        return ()
    known_names = {
        *_DEFINE.findall(text),
        *re.findall(r"\w+", text.partition("+++*/")[0]),
        *_header_macros(),
        *_OPERATORS,
        *_UNDEFINED,
    }
    lines_by_name = dict[str, list[int]]()
    for condition in _condition_names(rows(scan(text))):
        if known_names.isdisjoint(name for name, _ in condition if name not in _OPERATORS):
            for name, line in condition:
                if name not in known_names and _GUESSED.fullmatch(name):
                    lines_by_name.setdefault(name, []).append(line)
    return tuple(GuessedBranch(name, tuple(dict.fromkeys(lines))) for name, lines in lines_by_name.items())


def guesses_text(source: str) -> str:
    """Two sentences about them for a user; empty where there are none."""
    text = normalise(source)
    guesses = _guessed(text, source)
    if not guesses:
        return ""
    some = "; ".join(f"{guess.name} (line {', '.join(map(str, guess.lines[:3]))})" for guess in guesses[:5])
    more = f" and {len(guesses) - 5} more" if len(guesses) > 5 else ""
    missing = headers_not_here(text)
    absent = f", and {', '.join(missing[:3])} {'is' if len(missing) == 1 else 'are'} not here" if missing else ""
    return (
        f"Conditions ask for names that nothing here defines{absent}: {some}{more}. "
        "They count as not defined; if your build defines one, put a #define behind the plan."
    )


def _lines_of(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def _condition_names(token_rows: Iterable[list[Token]]) -> Iterable[list[tuple[str, int]]]:
    """Yield the names that each condition with code in some branch asks for, and their lines."""
    groups = list[tuple[list[tuple[str, int]], list[bool]]]()
    for row in token_rows:
        word = row[1].text if is_directive(row) and len(row) > 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            groups.append(([], [False]))
        if word in _ASKS and groups:
            groups[-1][0].extend((t.text, t.line) for t in row[2:] if t.kind == "name")
        if word == "endif" and groups:
            names, has_code = groups.pop()
            if has_code[0]:
                yield names
                if groups:
                    groups[-1][1][0] = True
        elif not is_directive(row) and groups:
            groups[-1][1][0] = True


def _header_macros() -> set[str]:
    """Collect the macros of the device headers."""
    texts = (path.read_text(encoding="utf-8") for path in INCLUDE.rglob("*") if path.is_file())
    return {name for text in texts for name in _DEFINE.findall(text)}
