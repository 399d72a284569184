"""The branches of conditional directives, as far as a text's brackets need them.

Each branch of `#if ... #else ... #endif` is read where it closes what it opens. Where one does not, as in a function
with two heads and one body, only the first branch is read, so that the brackets of the whole text fit.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.candidate.pp_tokens import Token, is_directive

_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
_NEXT = frozenset({"else", "elif", "elifdef", "elifndef"})
Branch = list[list[Token]]


def balanced_rows(rows: Iterable[list[Token]]) -> Branch:
    """The rows without conditional directives, and without branches that would count a bracket twice."""
    groups: list[list[Branch]] = [[[]]]  # the branches of each group that is not closed yet; the first is the text
    for row in rows:
        word = row[1].text if is_directive(row) and len(row) > 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            groups.append([[]])
        elif word in _NEXT and len(groups) > 1:
            groups[-1].append([])
        elif word == "endif" and len(groups) > 1:
            branches = groups.pop()
            groups[-1][-1] += _read(branches)
        else:
            groups[-1][-1].append(row)
    return [row for branches in groups for row in _read(branches)]


def _read(branches: list[Branch]) -> Branch:
    kept = branches if all(map(_is_closed, branches)) else branches[:1]
    return [row for branch in kept for row in branch]


def _is_closed(branch: Branch) -> bool:
    expected = list[str]()
    for row in branch:
        for token in () if is_directive(row) else row:
            if token.kind != "mark":
                continue
            if token.text in _OPEN:
                expected.append(_OPEN[token.text])
            elif token.text in _CLOSE and (not expected or expected.pop() != token.text):
                return False
    return not expected
