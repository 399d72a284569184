"""Host functions inside the classes of device code: in HIP they may stand there, and no device code can call them.

Of constructors and destructors the declaration stays, so that the class is what it was; only the body goes. Another
member goes whole: the lab's build could not tell it from one of the same name for the device.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sandbox.candidate.pp_tokens import Token

Span = tuple[int, int, str]  # beginning and end in the text, and what stands in its place before the empty lines
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLASSES = frozenset({"class", "struct", "union", "enum", "namespace"})
_BOTH = frozenset({"constexpr", "consteval"})
_ACCESS = frozenset({"public", "private", "protected"})


@dataclass(frozen=True)
class Marks:
    """The keywords of device code and of host code, with a file's macros that stand for them."""

    device: frozenset[str]
    host: frozenset[str]


def host_members(
    tokens: Sequence[Token], marks: Marks, is_mixed: bool, is_hosts: Callable[[Sequence[Token]], bool]
) -> Iterator[Span]:
    """Parts of a class to leave out: functions of the host alone and, in a file with a host half, unmarked ones.

    `is_hosts` is true for tokens that only the host's compiler understands.
    """
    closing = _partners(tokens)
    opened = next((i for i, t in enumerate(tokens) if t.text == "{" and t.kind == "mark"), len(tokens))
    names = {t.text for t in tokens[:opened]}  # of the class, with words that no function has
    start = index = opened + 1
    end = closing.get(opened, len(tokens))
    while index < end:
        text = tokens[index].text if tokens[index].kind == "mark" else ""
        if text == ":" and tokens[index - 1].text in _ACCESS:
            start = index + 1
        if text == ";":
            if is_mixed and _is_hosts_friend({t.text for t in tokens[start:index]}, marks):
                yield tokens[start].start, tokens[index].end, ""
            start = index + 1
        elif text == "{":
            head, body = tokens[start:index], tokens[index : closing[index] + 1]
            words = [t.text for t in head]
            following = tokens[closing[index] + 1].text if closing[index] + 1 < end else ""
            if not _CLASSES.isdisjoint(_outside_templates(words)) and "(" not in words:
                yield from host_members(tokens[start : closing[index] + 1], marks, is_mixed, is_hosts)
            elif _is_function(words) and following not in ("{", ","):
                yield from _left_out(head, body, marks, is_mixed, is_hosts, _function_name(words) in names)
                start = closing[index] + 1
        index = closing.get(index, index) + 1


def _left_out(
    head: Sequence[Token],
    body: Sequence[Token],
    marks: Marks,
    is_mixed: bool,
    is_hosts: Callable[[Sequence[Token]], bool],
    is_constructor: bool,
) -> Iterator[Span]:
    words = {t.text for t in head}
    if not marks.device.isdisjoint(words) or (not _BOTH.isdisjoint(words) and not is_hosts([*head, *body])):
        return
    if marks.host.isdisjoint(words) and not (is_mixed or is_hosts([*head, *body])):
        return
    if is_hosts(head) or not is_constructor:
        yield head[0].start, body[-1].end, ""
        return
    depth = 0
    first = body[0]
    for before, token in itertools.pairwise(head):  # the list of initialisers goes with the body
        depth += (before.text == "(") - (before.text == ")")
        if token.text == ":" and (before.text == ")" or before.text.isidentifier()) and depth == 0:
            first = token
            break
    yield first.start, body[-1].end, ";"


def _is_hosts_friend(words: set[str], marks: Marks) -> bool:
    """Tell whether the class only names an operator without a mark: it is the host's, wherever it is defined."""
    return {"friend", "operator"} <= words and marks.device.isdisjoint(words) and _BOTH.isdisjoint(words)


def _is_function(words: Sequence[str]) -> bool:
    if "(" not in words:
        return False
    return "=" not in words[: words.index("(")] or "operator" in words


def _function_name(words: Sequence[str]) -> str:
    return words[words.index("(") - 1] if words.index("(") else ""


def _outside_templates(words: Sequence[str]) -> list[str]:
    """List the words outside of template parameters."""
    depth, outside = 0, list[str]()
    for word in words:
        depth += {"<": 1, ">": -1, ">>": -2}.get(word, 0)
        if depth <= 0:
            outside.append(word)
    return outside


def _partners(tokens: Sequence[Token]) -> dict[int, int]:
    closing, opened = dict[int, int](), list[int]()
    for index, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _OPEN:
            opened.append(index)
        elif token.kind == "mark" and token.text in _OPEN.values() and opened:
            closing[opened.pop()] = index
    return closing
