"""The host half of a HIP file: found in the text by rule, so that a file can be judged as it is written.

A file that launches its kernels itself holds functions for the processor: `main`, launchers, a reference. None of them
ever runs here, and none is compiled: they become empty lines, before any compiler, judge or digest sees the text. So
every part of the judge reads the same device half, and what is left out can neither help nor harm a candidate.

A function is the host's where nothing marks it for the device and it launches a kernel, calls the runtime's interface
or is `main`. Where a file has one, so are its other unmarked functions, unless device code names them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sandbox.candidate.branches import balanced_rows
from sandbox.candidate.host_members import host_members
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

_HINT = re.compile(r"<<<|\bmain\s*\(|\b(?:hip|cuda)[A-Z]|\b(?:torch|at|c10)::|\b__host__\b")
_RUNTIME = re.compile(
    r"(?:hip|cuda|hipblas|rocblas|cublas|hiprand|rocrand|hipfft|rocfft|hipsparse|rocsparse|omp_)[A-Z_]\w*"
    r"|hip(?:blas|rand|fft|sparse|solver)[A-Z]\w*|rocblas_\w+|rocrand_\w+|TORCH_\w+|AT_\w+|PYBIND11_\w+|C10_(?:CUDA|HIP|EXPORT|API)\w*"
)
_FRAMEWORK = frozenset({"torch", "at", "c10"})
_NUMBER = re.compile(r"Half|BFloat16|Float8_\w+|complex|\w*OpMathType|opmath_type|acc_type|util|detail")  # of device code
_VECTORS = re.compile(r"hip(?:Thread|Block|Grid)(?:Idx|Dim)_[xyz]|hip(?:Float|Double)?Complex")
_LIBRARY = frozenset(
    {
        *("vector", "string", "map", "set", "unordered_map", "unique_ptr", "shared_ptr", "cout", "cerr", "endl"),
        *("fstream", "ifstream", "ofstream", "stringstream", "FILE", "chrono", "thread", "mutex"),
        *("mt19937", "default_random_engine", "random_device", "torch", "pybind11", "thrust"),
    }
)
_MARKS = frozenset(
    {
        *("__global__", "__device__", "__shared__", "__constant__", "__managed__"),
        *("C10_DEVICE", "C10_HOST_DEVICE", "HIPCUB_DEVICE", "HIPCUB_HOST_DEVICE", "ROCPRIM_DEVICE"),
    }
)
_CONSTANT = frozenset({"constexpr", "consteval"})  # the compiler gives these to both sides
_CLASSES = frozenset({"class", "struct", "union", "enum"})
_OTHER = frozenset({"=", "typedef", "using", "static_assert", *_CLASSES})  # what no prototype begins with
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")


@dataclass(frozen=True)
class _Declaration:
    """Tokens of one declaration outside of functions and classes; `head` of them stand before its body."""

    tokens: tuple[Token, ...]
    head: int
    is_function: bool

    @property
    def name(self) -> str:
        """Of a function: the name before its first parenthesis; of a class: the one behind its keyword."""
        words = [t.text for t in self.tokens[: self.head]]
        if not self.is_function and not self.is_prototype:
            at = next((i for i, word in enumerate(words) if word in _CLASSES and words[i - 1 : i] != ["<"]), len(words))
            return next((word for word in words[at + 1 :] if word.isidentifier() and word not in _CLASSES), "")
        at = words.index("(") if "(" in words else 0
        return words[at - 1] if at else ""

    @property
    def type_name(self) -> str:
        """The type that a declaration outside of functions gives a name to; "" where it gives none."""
        words = [t.text for t in self.tokens if t.text != ";"]
        if self.is_function or self.is_prototype:
            return ""
        if "using" in words and "=" in words:
            return words[words.index("=") - 1]
        if words[:1] == ["typedef"]:
            pointer = next((b for a, b in pairwise(words) if a == "*" and words[words.index(b) - 2] == "("), "")
            return pointer or next((word for word in reversed(words) if word.isidentifier()), "")
        head = words[: words.index("{")] if "{" in words else ["("]
        return self.name if not _CLASSES.isdisjoint(head) and "(" not in head else ""

    @property
    def is_prototype(self) -> bool:
        """True for what looks like a function without a body."""
        words = [t.text for t in self.tokens[: self.head]]
        return not self.is_function and words[-1:] == [")"] and _OTHER.isdisjoint(words[: words.index("(")])

    @property
    def is_class_with_functions(self) -> bool:
        """True for a class in which a function has a body."""
        words = [t.text for t in self.tokens]
        bodies = zip(words, words[1:], words[2:], strict=False)
        has_body = any(
            before == ")" and (text == "{" or (text in ("const", "override", "noexcept") and after == "{"))
            for before, text, after in bodies
        )
        return has_body and not _CLASSES.isdisjoint(words[:40])


def without_host_half(text: str) -> str:
    """The text with empty lines in place of host code; the text itself where it has none, or is not understood."""
    if not _HINT.search(text):
        return text
    tokens = scan(text)
    kept, defined = list[Token](), list[Sequence[Token]]()
    for row in balanced_rows(rows(tokens)):
        if is_directive(row):
            defined += [row] if len(row) > 2 and row[1].text == "define" else []
        else:
            kept += row
    marks, macros = _marks(defined), {row[2].text for row in defined if len(row) > 3 and row[3].text == "("}
    declarations = _declarations(kept, macros)
    if declarations is None:
        return text
    host = _host(declarations, marks, _named(defined, {"__host__"}))
    left_out = {id(d) for d in host}
    spans = [(d.tokens[0].start, d.tokens[-1].end, "") for d in host]
    for declared in declarations:
        if id(declared) not in left_out and not declared.is_function and "{" in (t.text for t in declared.tokens):
            spans += host_members(declared.tokens, marks, bool(host), lambda t: _asks_runtime(t) or _uses_library(t))
    pieces, at = list[str](), 0
    for start, end, instead in sorted(spans):
        pieces += [text[at:start], instead, _blank(text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _blank(text: str) -> str:
    """Lines without words; conditions, macros and headers stay, which belong to what follows as well."""
    directive, lines = False, list[str]()
    for line in text.split("\n"):
        directive = directive or (line.lstrip().startswith("#") and not line.lstrip("# \t").startswith("pragma"))
        lines.append(line if directive else "")
        directive = directive and line.rstrip().endswith("\\")
    return "\n".join(lines)


def _marks(defined: Sequence[Sequence[Token]]) -> frozenset[str]:
    """The keywords of device code, and this file's macros that stand for them."""
    return _named(defined, _MARKS)


def _named(defined: Sequence[Sequence[Token]], keywords: Collection[str]) -> frozenset[str]:
    users = dict[str, list[str]]()
    for row in defined:
        for token in row[3:]:
            users.setdefault(token.text, []).append(row[2].text)
    marks, fresh = set(keywords), list(keywords)
    while fresh:
        more = set(users.get(fresh.pop(), ())) - marks
        marks |= more
        fresh += more
    return frozenset(marks)


def _host(
    declarations: Sequence[_Declaration], marks: frozenset[str], host_marks: frozenset[str]
) -> list[_Declaration]:
    unmarked = [d for d in declarations if not _is_marked(d, marks)]
    said = {id(d) for d in unmarked if d.is_function and not host_marks.isdisjoint(t.text for t in d.tokens[: d.head])}
    host = {
        id(d): d for d in unmarked if d.is_function and (d.name == "main" or id(d) in said or _asks_runtime(d.tokens))
    }
    if not host:
        return []
    open_ = dict[str, list[_Declaration]]()  # by its name, what is the host's unless device code names it
    for declared in unmarked:
        if id(declared) in host:
            continue
        if not declared.is_function and (_asks_runtime(declared.tokens) or _uses_library(declared.tokens)):
            host[id(declared)] = declared
        elif declared.is_function or declared.is_prototype or declared.is_class_with_functions:
            constant = not _CONSTANT.isdisjoint(t.text for t in declared.tokens[: declared.head])
            if not (constant and declared.is_function):
                open_.setdefault(declared.name, []).append(declared)
    undecided = {id(d) for found in open_.values() for d in found}
    fresh = [d for d in declarations if id(d) not in host and id(d) not in undecided]
    while fresh:
        for token in fresh.pop().tokens:
            fresh += open_.pop(token.text, ())
    host |= {id(d): d for found in open_.values() for d in found}
    return [*host.values(), *_dependents(unmarked, host)]


def _dependents(unmarked: Sequence[_Declaration], host: Mapping[int, _Declaration]) -> list[_Declaration]:
    """Types and variables made of the host's types, which have gone."""
    gone = {d.type_name for d in host.values()} - {""}
    found = list[_Declaration]()
    for declared in unmarked:
        if id(declared) in host or declared.is_function or not gone & {t.text for t in declared.tokens}:
            continue
        if declared.type_name not in gone:
            found.append(declared)
            gone |= {declared.type_name} - {""}
    return found


def _is_marked(declared: _Declaration, marks: frozenset[str]) -> bool:
    part = declared.tokens[: declared.head] if declared.is_function else declared.tokens
    words = [t.text for t in part]
    if not marks.isdisjoint(words):
        return True
    return "__attribute__" in words and not {"global", "device", "shared", "constant"}.isdisjoint(words)


def _asks_runtime(tokens: Sequence[Token]) -> bool:
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.kind == "name" and _RUNTIME.fullmatch(token.text) and not _VECTORS.fullmatch(token.text):
            return True
        if token.text == "<<" and after and after.text == "<" and after.start == token.end:
            return True  # a launch
    names = (t.text for t in tokens[2:])
    return any(
        first.text in _FRAMEWORK and second.text == "::" and not _NUMBER.fullmatch(third)
        for first, second, third in zip(tokens, tokens[1:], names, strict=False)
    )


def _uses_library(tokens: Sequence[Token]) -> bool:
    return any(t.kind == "name" and t.text in _LIBRARY for t in tokens)


def _declarations(tokens: Sequence[Token], macros: set[str]) -> list[_Declaration] | None:
    """The declarations of all namespaces; None where the brackets do not fit."""
    closing = _partners(tokens)
    if closing is None:
        return None
    return list(_cut(tokens, closing, macros))


def _partners(tokens: Sequence[Token]) -> dict[int, int] | None:
    """The place of the closing bracket of each opening one."""
    found, opened = dict[int, int](), list[int]()
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in _OPEN:
            opened.append(index)
        elif token.text in _CLOSE:
            if not opened or _OPEN[tokens[opened[-1]].text] != token.text:
                return None
            found[opened.pop()] = index
    return None if opened else found


def _cut(tokens: Sequence[Token], closing: dict[int, int], macros: set[str]) -> Iterator[_Declaration]:
    start = at = 0
    has_braces = False  # a class or a list of values: what follows is no body
    while at < len(tokens):
        text, end = tokens[at].text if tokens[at].kind == "mark" else "", at
        is_whole = is_function = False
        if text == ";":
            is_whole = True
        elif text == "}":  # of a namespace
            start = at + 1
        elif text == "{" and not has_braces:
            words = [t.text for t in tokens[start:at]]
            if words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"] or _is_c(words):
                start = at + 1
            else:
                is_whole = is_function = _is_body(words)
                has_braces, end = not is_whole, closing[at]
        else:
            end = closing.get(at, at)
            is_macro = text == "(" and at - start == 1 and tokens[start].text in macros
            is_whole = is_macro and end + 1 < len(tokens) and tokens[end + 1].text not in (";", "{")
        if is_whole:
            yield _Declaration(tuple(tokens[start : end + 1]), (at if is_function else end) - start, is_function)
            start, has_braces = end + 1, False
        at = end + 1


def _is_c(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0] == "extern" and words[1].startswith('"')


def _is_body(words: Sequence[str]) -> bool:
    """True where the brace behind these words opens a function's body, not a class or a list of values."""
    words = _without_template(words)
    if "(" not in words or "=" in _outside_parentheses(words[words.index("(") :]):
        return False
    return _CLASSES.isdisjoint(words[: words.index("(")]) or words[-1] == ")"


def _outside_parentheses(words: Sequence[str]) -> list[str]:
    """The words that stand in no parentheses; a default value of a parameter is not among them."""
    depth, kept = 0, list[str]()
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth == 0:
            kept.append(word)
    return kept


def _without_template(words: Sequence[str]) -> list[str]:
    """The words behind `template <...>`, in which `class` declares a type's name."""
    if words[:1] != ["template"]:
        return list(words)
    depth = 0
    for index, word in enumerate(words):
        depth += {"<": 1, ">": -1, ">>": -2}.get(word, 0)
        if index > 1 and depth <= 0:
            return list(words[index + 1 :])
    return []
