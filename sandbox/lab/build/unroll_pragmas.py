"""Macros in `#pragma unroll N`: the compiler puts their values there, `clang -E` leaves them as they are written.

So such a line goes through the preprocessor as text, under a name that no candidate may write, and becomes a pragma
again behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.candidate.pp_tokens import is_directive, rows, scan

_PRAGMAS = {
    ("unroll",): "ks_pragma_unroll",
    ("GCC", "unroll"): "ks_pragma_gcc_unroll",
    ("clang", "loop"): "ks_pragma_clang_loop",
}
_WRITTEN = {name: f"#pragma {' '.join(words)}" for words, name in _PRAGMAS.items()}


def opened(source: str, tunables: Iterable[str]) -> str:
    """The source with pragmas that name a macro as lines of text; no line moves."""
    if "pragma" not in source:
        return source
    pieces, at, macros = list[str](), 0, set(tunables)
    for row in rows(scan(source)):
        words = [token.text for token in row]
        if not is_directive(row) or len(row) < 3:
            continue
        if words[1] == "define":
            macros.add(words[2])
        count = 2 if words[2] in ("GCC", "clang") else 1
        name = _PRAGMAS.get(tuple(words[2 : 2 + count])) if words[1] == "pragma" else None
        if name and macros.intersection(words[2 + count :]):
            pieces += [source[at : row[0].start], name]
            at = row[1 + count].end
    return "".join([*pieces, source[at:]])


def closed(text: str) -> str:
    """The preprocessed text with those lines as pragmas."""
    if "ks_pragma_" not in text:
        return text
    pieces, at = list[str](), 0
    for row in rows(scan(text)):
        if row[0].text in _WRITTEN:
            pieces += [text[at : row[0].start], _WRITTEN[row[0].text]]
            at = row[0].end
    return "".join([*pieces, text[at:]])
