"""Device functions and classes that no launch of a plan reaches, in a file with a host half: they are left out as well.

A file of others holds kernels beside the one that is launched, and headers hold functions that it does not call. One of
them may need what HIP does not have (assembly of another GPU, a library's device functions), which says nothing about
the kernel that is launched. What is left out is compiled nowhere and can neither help nor harm a candidate.

Names decide: a function stays where the plan, or anything that stays, has a word that is its name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sandbox.candidate.declarations import Declaration, without_attributes
from sandbox.candidate.pp_tokens import Token

_PLAN = re.compile(r"\s*/\*\+\+\+(.*?)\+\+\+\*/", re.S)
_PART = re.compile(r"^//\+\+\+ part ", re.M)
MAX_JOINED = 3  # words that a macro joins to one
MAX_NAME = 128  # characters of a name that may be joined
_JOIN = "##"  # stands for every name that the text's words can make
_CLASSES = frozenset({"class", "struct", "union"})
_WORD = re.compile(r"[A-Za-z_]\w*")


def unreached(
    text: str, declarations: Sequence[Declaration], defined: Sequence[Sequence[Token]], marks: frozenset[str]
) -> list[Declaration]:
    """Device functions, their prototypes, and classes that the plan's kernels cannot name; none without a plan.

    `declarations` are those that stay, `defined` the rows of `#define`, `marks` the words that mark device code.
    """
    plan = _PLAN.match(text)
    if plan is None or _PART.search(text):
        return []
    open_ = defaultdict[str, list[Declaration]](list)
    fresh: list[Iterable[str]] = [_WORD.findall(plan[1])]
    for declared in declarations:
        names = _names(declared, marks)
        for name in names:
            open_[name].append(declared)
        if not names:
            fresh.append(t.text for t in declared.tokens if t.kind == "name")
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
                    fresh.append([t.text for t in declared.tokens if t.kind == "name"])
            fresh.append(macros.pop(word, ()))
    return list({id(d): d for found in open_.values() for d in found if id(d) not in stay}.values())


def _names(declared: Declaration, marks: frozenset[str]) -> list[str]:
    """Words that may be the name of a device function or a class; none for all else, which stays.

    Operators stay too: they are called without their names. A macro with parameters in front of a function looks like
    its name, so each word before a parenthesis counts. Classes go with the functions in them.
    """
    if not (declared.is_function or declared.is_prototype):
        is_class = [t.text for t in declared.tokens[-2:]] == ["}", ";"] and declared.kind in _CLASSES
        return [declared.name] if is_class and declared.name else []
    words = without_attributes([t.text for t in declared.tokens[: declared.head]])
    if "operator" in words or marks.isdisjoint(words):
        return []
    names, depth, angles = list[str](), 0, list[int]()
    for at, (word, after) in enumerate(pairwise([*words, ""])):
        if word == "<" and depth == 0:
            angles.append(at)
        elif word in (">", ">>") and depth == 0 and angles:  # of a template's arguments, before the parameters
            opened = angles[-len(word) :] or angles
            del angles[-len(word) :]
            if after == "(":
                names.append(words[opened[0] - 1])
        elif depth == 0 and after == "(":
            names.append(word)
        depth += (word == "(") - (word == ")")
    return [name for name in names if name.isidentifier()]


def _is_joined(name: str, words: frozenset[str], pieces: int) -> bool:
    """True where at most this many of the words, and at least two, make the name, or it is too long to find out."""
    if len(name) > MAX_NAME:
        return True
    cuts = (at for at in range(1, len(name)) if name[:at] in words)
    return any(name[at:] in words or (pieces > 2 and _is_joined(name[at:], words, pieces - 1)) for at in cuts)
