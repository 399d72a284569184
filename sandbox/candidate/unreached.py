"""Functions, classes, constants and aliases that no launch of a plan reaches, in a file with a host half: left out.

A file of others holds kernels beside the one that is launched, and headers hold functions that it does not call. One of
them may need what HIP does not have (assembly of another GPU, a library's device functions), which says nothing about
the kernel that is launched. What is left out is compiled nowhere and can neither help nor harm a candidate.

Names decide: a function stays where the plan, or anything that stays, has a word that is its name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sandbox.candidate.declarations import Declaration, outside_braces, without_attributes
from sandbox.candidate.pp_tokens import Token

_PLAN = re.compile(r"\s*/\*\+\+\+(.*?)\+\+\+\*/", re.S)
_PART = re.compile(r"^//\+\+\+ part ", re.M)
MAX_JOINED = 3  # words that a macro joins to one
MAX_NAME = 128  # characters of a name that may be joined
_JOIN = "##"  # stands for every name that the text's words can make
_CLASSES = frozenset({"class", "struct", "union"})
_STAYING = frozenset({"operator", "enum", "static_assert", "extern", "friend"})
_UNSPOKEN = frozenset({"tuple_size", "tuple_element", "get", "begin", "end"})  # the language itself names these
_QUALIFIERS = frozenset(
    {"const", "volatile", "typename", "struct", "class", "unsigned", "signed", "std", "int", "float"}
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def unreached(
    text: str,
    declarations: Sequence[Declaration],
    defined: Sequence[Sequence[Token]],
    marks: frozenset[str],
    unread: Sequence[Token] = (),
) -> list[Declaration]:
    """Functions, their prototypes, classes and constants that the plan's kernels cannot name; none without a plan.

    `declarations` are those that stay, `defined` the rows of `#define`, `marks` the words that mark device code,
    `unread` the names in branches of conditions that no declaration has among its tokens: which one is compiled only
    the preprocessor knows.
    """
    plan = _PLAN.match(text)
    if plan is None or _PART.search(text):
        return []
    beside = _unread_names_within(declarations, unread)
    open_ = defaultdict[str, list[Declaration]](list)
    fresh: list[Iterable[str]] = [_WORD.findall(plan[1])]
    uses = {row[2].text for row in defined}  # of macros: what they declare is not known
    for declared in declarations:
        names = _names(declared, marks) if declared.tokens[0].text not in uses or declared.is_function else []
        for name in names:
            open_[name].append(declared)
        if not names:
            fresh += ((t.text for t in declared.tokens if t.kind == "name"), beside[id(declared)])
    words = frozenset(t.text for row in (*defined, *(d.tokens for d in declarations)) for t in row)
    macros = defaultdict[str, list[str]](list)
    for row in defined:
        macros[row[2].text] += (t.text for t in row[3:] if t.kind == "name" or t.text == _JOIN)
    macros[_JOIN] = [name for name in open_ if _is_joined(name, words, MAX_JOINED)]
    stay = set[int]()
    while fresh:
        for word in fresh.pop():
            for declared in open_.pop(word, ()):
                if id(declared) not in stay:
                    stay.add(id(declared))
                    fresh += ([t.text for t in declared.tokens if t.kind == "name"], beside[id(declared)])
            fresh.append(macros.pop(word, ()))
    return list({id(d): d for namesakes in open_.values() for d in namesakes if id(d) not in stay}.values())


def _unread_names_within(declarations: Sequence[Declaration], unread: Sequence[Token]) -> dict[int, list[str]]:
    """List the unread names within each declaration, as of another head before the same body."""
    ordered = sorted(declarations, key=lambda d: d.tokens[0].start)
    starts, unread_names = [d.tokens[0].start for d in ordered], defaultdict[int, list[str]](list)
    for token in unread:
        index = bisect_right(starts, token.start) - 1
        if index >= 0 and token.end <= ordered[index].tokens[-1].end:
            unread_names[id(ordered[index])].append(token.text)
    return unread_names


def _names(declared: Declaration, marks: frozenset[str]) -> list[str]:
    """Words that may be the name of what is declared; none for what stays, as a variable of the device does.

    Operators are called without their names, but on their types. A macro with parameters in front of a function looks
    like its name, so each word before a parenthesis counts. Classes go with the functions in them.
    """
    if not (declared.is_function or declared.is_prototype):
        is_class = [t.text for t in declared.tokens[-2:]] == ["}", ";"] and declared.kind in _CLASSES
        name = declared.name if is_class else _name_of_value(declared, marks)
        return [name] if name and name not in _UNSPOKEN else []
    words = without_attributes([t.text for t in declared.tokens[: declared.head]])
    if "operator" in words:
        return _types_of(words[words.index("operator") + 1 :])
    names, depth, angles = list[str](), 0, list[int]()
    for index, (word, after) in enumerate(pairwise([*words, ""])):
        if word == "<" and depth == 0:
            angles.append(index)
        elif word in (">", ">>") and depth == 0 and angles:  # of a template's arguments, before the parameters
            opened = angles[-len(word) :] or angles
            del angles[-len(word) :]
            if after == "(":
                names.append(words[opened[0] - 1])
        elif depth == 0 and after == "(":
            names.append(word)
        depth += (word == "(") - (word == ")")
    return [] if not _UNSPOKEN.isdisjoint(names) else [name for name in names if name.isidentifier()]


def _types_of(words: Sequence[str]) -> list[str]:
    """List the words of an operator's parameters that may be types; none where it has no parameters: it stays."""
    words = words[2:] if list(words[:2]) == ["(", ")"] else words
    names = (a for a, after in pairwise(words[words.index("(") :]) if a.isidentifier() and after not in (",", ")", "="))
    return [name for name in names if name not in _QUALIFIERS] if "(" in words else []


def _name_of_value(declared: Declaration, marks: frozenset[str]) -> str:
    """Name an alias, a constant without a mark, or the class that a deduction guide is for; else ""."""
    words = [t.text for t in declared.tokens]
    is_alias = declared.kind in ("using", "typedef")
    if not _STAYING.isdisjoint(outside_braces(words) if is_alias else words[: declared.head]):
        return ""
    if is_alias:
        return declared.type_name or declared.alias_name
    if not marks.isdisjoint(words):
        return ""
    return declared.constant_name or declared.guided_name


def _is_joined(name: str, words: frozenset[str], pieces: int) -> bool:
    """Tell whether at most this many of the words, and at least two, make the name, or it is too long to find out."""
    if len(name) > MAX_NAME:
        return True
    cuts = (cut for cut in range(1, len(name)) if name[:cut] in words)
    return any(name[cut:] in words or (pieces > 2 and _is_joined(name[cut:], words, pieces - 1)) for cut in cuts)
