"""A dispatch: a file that holds several kernels, and conditions on the dims that say which of them serves a shape.

/*+++
[[variant]]
when = "cols <= 1024"        # a condition on the dims; the first that holds decides
part = "narrow"

[[variant]]                  # the last one has no condition: it takes the rest
part = "wide"
tunables = {ROWS = 2}        # optional: other values than the part's defaults
+++*/
//+++ part narrow
/*+++ ... +++*/              a whole candidate, and so is each further part
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import repr as shown
from typing import Any

from records.errors import PlanError
from sandbox.candidate.parse import listing, normalise, plan_span, read_toml
from sandbox.candidate.plan import PlanLines
from tasks.domain import atoms, meets

MOST_VARIANTS = 8
_TABLE = re.compile(r"^\s*\[\[\s*variant\s*\]\]", re.MULTILINE)
_MARK = re.compile(r"^//\+\+\+ part ([A-Za-z_][A-Za-z0-9_]{0,99})$", re.MULTILINE)
_KEYS = frozenset({"when", "part", "tunables"})


@dataclass(frozen=True)
class Variant:
    """One row: under this condition this part, with these tunables in place of its defaults."""

    part: str
    when: str = ""  # empty: whatever is left
    tunables: Mapping[str, int] = field(default_factory=dict)
    line: int = 1  # of [[variant]] in the file

    @property
    def label(self) -> str:
        """The condition in words."""
        return self.when or "otherwise"


@dataclass(frozen=True)
class Part:
    """The text of one kernel file within the file."""

    source: str
    lines_before: int = 0


@dataclass(frozen=True)
class Dispatch:
    """The rows in their order, and the parts by name."""

    variants: tuple[Variant, ...]
    parts: Mapping[str, Part]

    def rows(self) -> list[tuple[Variant, Part]]:
        """Each variant with its part."""
        return [(variant, self.parts[variant.part]) for variant in self.variants]


def is_dispatch(source: str) -> bool:
    """Tell whether the file's plan is a table of variants."""
    text = source.removeprefix("\ufeff").lstrip()
    return text.startswith("/*+++") and bool(_TABLE.search(text.partition("+++*/")[0]))


def read_dispatch(source: str) -> Dispatch:
    """Read the rows and the parts of a file; PlanError names the field and the line."""
    text = normalise(source)
    start, end, first_line = plan_span(text)
    table, lines = read_toml(text[start + 5 : end], first_line)
    parts = _parts(text, end + 5)
    if extra := table.keys() - {"variant"}:
        raise PlanError(f"beside [[variant]] the plan may hold nothing, and it holds {shown(min(extra))}", first_line)
    rows = table.get("variant")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise PlanError("the variants must be tables, written [[variant]]", first_line)
    if not 2 <= len(rows) <= MOST_VARIANTS:
        raise PlanError(f"the plan has {len(rows)} variants; there must be 2 to {MOST_VARIANTS}", first_line)
    variants = tuple(_variant(row, number, len(rows), lines) for number, row in enumerate(rows))
    used = {variant.part for variant in variants}
    if used != parts.keys():
        raise PlanError(
            f"the variants name the parts {listing(sorted(used))}, and the file holds {listing(sorted(parts))}; "
            "they must be the same",
            first_line,
        )
    return Dispatch(variants, parts)


def dispatch_text(variants: Sequence[Variant], parts: Mapping[str, str]) -> str | None:
    """Write the file of these variants and parts; None where a part cannot stand in one."""
    if any(_MARK.search(text) or is_dispatch(text) for text in parts.values()):
        return None
    rows = ["/*+++"]
    for variant in variants:
        rows += ["[[variant]]", *([f'when = "{variant.when}"'] if variant.when else []), f'part = "{variant.part}"']
        if variant.tunables:
            rows.append(f"tunables = {{{', '.join(f'{n} = {v}' for n, v in variant.tunables.items())}}}")
        rows.append("")
    head = "\n".join([*rows[:-1], "+++*/", ""])
    return head + "".join(f"//+++ part {name}\n{normalise(text)}" for name, text in parts.items())


def holds(variant: Variant, dims: Mapping[str, int]) -> bool:
    """Tell whether a shape meets the variant's condition."""
    return meets(variant.when, dims)


def check_names(dispatch: Dispatch, dims: frozenset[str]) -> None:
    """Refuse a condition on anything but the task's dims."""
    for variant in dispatch.variants:
        names = {name for atom in (atoms(variant.when) if variant.when else ()) for name in atom.names}
        if unknown := names - dims:
            raise PlanError(
                f"when uses the unknown name {shown(min(unknown))}; known are the dims {listing(dims)}", variant.line
            )


def _parts(text: str, after: int) -> dict[str, Part]:
    marks = list(_MARK.finditer(text, after))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    between = text[after : marks[0].start() if marks else len(text)]
    if between.strip():
        line = text.count("\n", 0, after + len(between) - len(between.lstrip())) + 1
        raise PlanError("between the table of variants and the first line `//+++ part NAME` nothing may stand", line)
    parts = dict[str, Part]()
    for mark, end in zip(marks, ends, strict=True):
        line = text.count("\n", 0, mark.start()) + 1
        source = text[mark.end() + 1 : end]
        if mark[1] in parts:
            raise PlanError(f"two parts have the name {mark[1]}", line)
        if is_dispatch(source):
            raise PlanError(f"the part {mark[1]} is a table of variants itself; a part is one kernel file", line)
        parts[mark[1]] = Part(source, line)
    return parts


def _variant(row: Mapping[str, Any], number: int, count: int, lines: PlanLines) -> Variant:
    line, name = lines.line("variant", "", number), f"variant {number + 1}"
    if extra := row.keys() - _KEYS:
        raise PlanError(f"{name} has the unknown key {shown(min(extra))}; it may have {listing(_KEYS)}", line)
    when, part, tunables = row.get("when", ""), row.get("part"), row.get("tunables", {})
    if not isinstance(part, str):
        raise PlanError(f"{name} must name its part", line)
    if not isinstance(when, str) or (when and number == count - 1):
        raise PlanError("the last variant takes the rest: it has no condition `when`, and the others have a text", line)
    try:
        when = " and ".join(atom.text for atom in atoms(when)) if when else ""
    except PlanError as error:
        raise PlanError(f"{name}: when: {error}", line) from None
    if not isinstance(tunables, dict) or not all(type(v) is int for v in tunables.values()):
        raise PlanError(f"{name}: tunables must be a table of integers", line)
    return Variant(part, when, tunables, line)
