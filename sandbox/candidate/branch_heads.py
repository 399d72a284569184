"""Functions whose head stands in branches of a condition: the host's alone in one, the device's in another.

A header for both sides has `#ifdef NATIVE`, `explicit __host__`, `#else`, `explicit __host__ __device__`, `#endif` and
then one body. Which branch is read only the preprocessor knows, so the head of the host alone becomes one that no call
can reach, a template whose parameter nothing gives; the body is compiled with it, in the judge as on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

_NEXT = frozenset({"else", "elif", "elifdef", "elifndef"})
_ENDS = frozenset({";", "{", "}"})
_NEVER = "template <class Unreachable> "
Branch = list[Token]


def with_unreachable_heads(text: str, host: frozenset[str], device: frozenset[str]) -> str:
    """Replace such heads in the text; `host` and `device` are the words that mark a function for a side."""
    only = host - device
    edits = list[tuple[int, int, str]]()
    groups = list[list[Branch]]()
    for row in rows(scan(text)):
        word = row[1].text if is_directive(row) and len(row) > 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            groups.append([[]])
        elif word in _NEXT and groups:
            groups[-1].append([])
        elif word == "endif" and groups:
            edits += _edits(groups.pop(), only, device)
        elif not word and groups:
            groups[-1][-1] += (token for token in row if token.kind != "end")
    pieces, position = list[str](), 0
    for start, end, instead in sorted(edits):
        pieces += [text[position:start], instead]
        position = end
    return "".join([*pieces, text[position:]])


def _edits(branches: Sequence[Branch], only: frozenset[str], device: frozenset[str]) -> list[tuple[int, int, str]]:
    heads = [_head(branch) for branch in branches]
    if len(heads) < 2 or not all(heads):
        return []
    words = [{token.text for token in head} for head in heads]
    if all(device.isdisjoint(head_words) for head_words in words):
        return []
    edits = list[tuple[int, int, str]]()
    for head, head_words in zip(heads, words, strict=True):
        if device.isdisjoint(head_words) and not only.isdisjoint(head_words) and "template" not in head_words:
            edits.append((head[0].start, head[0].start, _NEVER))
            edits += [(token.start, token.end, "__device__") for token in head if token.text in only]
    return edits


def _head(branch: Branch) -> Branch:
    """Return the part of a branch behind its last whole declaration; nothing where it begins nothing."""
    ends = [index for index, token in enumerate(branch) if token.kind == "mark" and token.text in _ENDS]
    return branch[ends[-1] + 1 :] if ends else branch
