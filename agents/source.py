"""A candidate's text, taken apart just far enough for small safe edits: plan, kernels, parameters, comments masked.

This is not a compiler. Everything that it does not recognise is left alone, and the sandbox judges the result.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SKIP = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ATTRIBUTES = ("__launch_bounds__", "__attribute__", "launch_bounds", "alignas", "noexcept")
_KEYS = ("launch", "workspace", "tunables", "constraints")
_LAUNCH_KEYS = frozenset({"kernel", "grid", "block", "lds", "args"})


class SourceError(ValueError):
    """The text is not a candidate this module can edit."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel; positions are offsets into the file."""

    name: str
    text: str
    name_at: int

    @property
    def is_pointer(self) -> bool:
        """True where it takes a buffer."""
        return "*" in self.text

    @property
    def pointee(self) -> str:
        """The element type without qualifiers."""
        kind = self.text[: self.text.find("*")] if self.is_pointer else ""
        return " ".join(w for w in kind.replace("__restrict__", " ").split() if w not in ("const", "volatile"))


@dataclass(frozen=True)
class KernelText:
    """A `__global__` function; `head` runs from `__global__` to the name, `body` lies between the braces."""

    name: str
    head: tuple[int, int]
    parameters: tuple[Parameter, ...]
    body: tuple[int, int]


@dataclass(frozen=True)
class KernelFile:
    """A candidate's file. `code` has its length, with comments, strings and characters blanked out."""

    source: str
    code: str
    plan: Mapping[str, Any]
    plan_span: tuple[int, int]
    kernels: tuple[KernelText, ...]

    def launches(self, kernel: str) -> list[Mapping[str, Any]]:
        """List the plan's launches of one kernel."""
        return [x for x in self.plan["launch"] if x.get("kernel") == kernel]

    @property
    def tunables(self) -> Mapping[str, list[int]]:
        """Name to values, the default first."""
        tunables: Mapping[str, list[int]] = self.plan.get("tunables", {})
        return tunables

    @property
    def fingerprint(self) -> str:
        """Eight hex digits, equal for texts that differ in comments, spacing or the order of a tunable's values."""
        plan = {**self.plan, "tunables": {n: sorted(v) for n, v in self.tunables.items()}}
        text = json.dumps(plan, sort_keys=True) + " ".join(self.code.split())
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def read(source: str) -> KernelFile:
    """Take a file apart to edit it; SourceError when it has no readable plan, or one of a form that no move knows."""
    file = look(source)
    if set(file.plan) - set(_KEYS):
        raise SourceError(
            "the launch plan must hold [[launch]] tables, and at most [workspace], [tunables] and [constraints]"
        )
    if not all(set(x) <= _LAUNCH_KEYS and _is_plain(x) for x in file.plan["launch"]):
        raise SourceError("the launch plan has loops, fills, expressions or named instantiations, which no move knows")
    return file


def look(source: str) -> KernelFile:
    """Take a file apart, whatever else its plan holds; SourceError when it has no readable plan."""
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    start = len(source) - len(source.lstrip())
    end = source.find("+++*/", start)
    if not source.startswith("/*+++", start) or end < 0:
        raise SourceError("the file does not start with a launch plan between /*+++ and +++*/")
    try:
        plan = tomllib.loads(source[start + 5 : end])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SourceError(f"the launch plan is not valid TOML: {error}") from None
    launches = plan.get("launch")
    if not isinstance(launches, list) or not all(isinstance(x, dict) for x in launches):
        raise SourceError("the launch plan must hold [[launch]] tables")
    tunables = plan.get("tunables", {})
    if not isinstance(tunables, dict) or not all(isinstance(v, list) and v for v in tunables.values()):
        raise SourceError("each tunable must be a list of integers")
    code = mask(source)
    return KernelFile(source, code, plan, (start, end + 5), tuple(_kernels(source, code)))


def _is_plain(launch: Mapping[str, Any]) -> bool:
    """Tell whether a launch is one of a function by its bare name with names as arguments."""
    args = launch.get("args", [])
    words = [launch.get("kernel", ""), *(args if isinstance(args, list) else [args])]
    return all(isinstance(word, str) and re.fullmatch(r"\w*(?::i\d+)?", word) for word in words)


def mask(source: str) -> str:
    """Return the text with comments, strings and character literals blanked; offsets and line breaks stay."""
    return _SKIP.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def with_plan(file: KernelFile, plan: Mapping[str, Any], source: str | None = None) -> str:
    """Return the file with another plan; `source` when the code behind the plan was changed too."""
    text = file.source if source is None else source
    end = text.index("+++*/", file.plan_span[0]) + 5
    return f"{text[: file.plan_span[0]]}/*+++\n{plan_text(plan)}+++*/{text[end:]}"


def plan_text(plan: Mapping[str, Any]) -> str:
    """Write a plan as TOML."""
    parts = ["[[launch]]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in x.items()) for x in plan["launch"]]
    for key in _KEYS[1:]:
        if plan.get(key):
            parts.append(f"[{key}]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in plan[key].items()))
    return "\n".join(parts)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def closing(code: str, offset: int) -> int:
    """Offset of the bracket that closes the one at `offset`; -1 when none does. `code` is masked."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack: list[str] = []
    for index in range(offset, len(code)):
        char = code[index]
        if char in pairs:
            stack.append(pairs[char])
        elif char in ")]}":
            if not stack or stack.pop() != char:
                return -1
            if not stack:
                return index
    return -1


def on_directive(code: str, offset: int) -> bool:
    """Tell whether an offset lies on a preprocessor line, continuation lines included."""
    start = code.rfind("\n", 0, offset) + 1
    while start > 1 and code[start - 2] == "\\":
        start = code.rfind("\n", 0, start - 1) + 1
    return code[start:offset].lstrip().startswith("#")


def substitute(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace spans by offsets; they must not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def words(code: str, pattern: str, start: int = 0, end: int | None = None) -> list[re.Match[str]]:
    """List matches of a pattern as whole words within a span of masked code."""
    return list(re.compile(rf"(?<![\w.]){pattern}(?!\w)").finditer(code, start, len(code) if end is None else end))


def _kernels(source: str, code: str) -> Iterator[KernelText]:
    for keyword in re.finditer(r"\b__global__\b", code):
        if on_directive(code, keyword.start()):
            continue
        offset = keyword.end()
        while (call := _CALL.search(code, offset)) and call[1] in _ATTRIBUTES:
            offset = closing(code, call.end() - 1) + 1
            if not offset:
                break
        if not call or not offset or re.search(r"[;{}]", code[offset : call.start()]):
            continue
        close = closing(code, call.end() - 1)
        opening = re.compile(r"\s*\{").match(code, close + 1) if close > 0 else None
        end = closing(code, opening.end() - 1) if opening else -1
        if opening and end > 0:
            yield KernelText(
                call[1],
                (keyword.start(), call.start()),
                tuple(_parameters(source, code, call.end(), close)),
                (opening.end(), end),
            )


def _parameters(source: str, code: str, start: int, end: int) -> Iterator[Parameter]:
    depth, first = 0, start
    for index in range(start, end + 1):
        char = code[index]
        if index == end or (char == "," and depth == 0):
            text = code[first:index]
            names = list(re.finditer(r"[A-Za-z_]\w*", text))
            if names:
                yield Parameter(names[-1].group(), text.strip(), first + names[-1].start())
            first = index + 1
        depth += (char in "(<[") - (char in ")>]")
