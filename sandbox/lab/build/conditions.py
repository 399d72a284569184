"""The comparisons of values that a candidate has read: each notes which of its two outcomes it had.

What follows from a launch's arguments, numbers and loop counters alone is decided for every shape by `decisions`. What
rests on values from memory is decided by inputs, and a comparison that had one outcome only in all that was executed
says where nobody has looked. In the sealed text a mark behind each such comparison stores a byte into an array of the
runtime, `ks_outcomes`; a bound (`fminf(x, 20)`) is a comparison with its constant, and several joined by `&&` are one
more. Comparisons in our own headers are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import numpy as np

from records.codec import dumps, loads
from records.computed_once import computed_once
from records.evaluation import OneSided
from sandbox.amdgcn.ir import DEFINITION, LOCAL, Body, bodies, operands
from sandbox.cage.output import read_output
from sandbox.candidate.diagnostics import SOURCE
from sandbox.lab.build.recorder import DECLARED, Sites, can_record, recorded

MOST = 4096  # marks of a program, as the runtime's array holds
_INFINITE = frozenset({"0xFFF0000000000000", "0x7FF0000000000000", "0xHFC00", "0xH7C00", "0xRFF80", "0xR7F80"})
FEW = 32  # values that are looked at for one comparison: what runs through more is none that a person wrote down
DEPTH = 2  # operations between a comparison and a number that it rests on
OUTCOMES = "ks_outcomes"
SEALED, UNMARKED = "sealed.ll", "unmarked.ll"
_KEPT = "conditions.json"
_KIND = r"(?:i\d+|float|double|half|bfloat)"
_COMPARED = re.compile(
    rf"^  (?P<name>{LOCAL}) = (?:[if]cmp) (?:\w+ )*?(?P<kind>{_KIND}) (?P<left>\S+), (?P<right>[^,\s]+)"
)
_HOW = re.compile(rf"^  {LOCAL} = [if]cmp (?:(?!(?:{_KIND}) )\w+ )*?(?P<how>[a-z]{{2,3}}) {_KIND} ")
_EQUALITY = re.compile(rf"^  {LOCAL} = [if]cmp (?:\w+ )*?(?:eq|ne|oeq|une|ueq|one) ")
_JOINED = re.compile(
    rf"^  (?P<name>{LOCAL}) = (?:(?:and|or) i1 (?P<left>\S+), (?P<right>[^,\s]+)"
    r"|select i1 (?P<first>[^,]+), i1 (?P<second>[^,]+), i1 (?P<third>[^,\s]+))"
)
_BOUNDED = re.compile(
    rf"^  {LOCAL} = (?:tail |notail )?call (?:\w+ )*?(?P<kind>{_KIND})"
    r" @llvm\.(?P<side>minnum|maxnum|minimumnum|maximumnum|umin|umax|smin|smax)\.\w+\("
    r"\w+ (?:\w+ )*?(?P<left>[^,\s]+), \w+ (?:\w+ )*?(?P<right>[^,\s)]+)\)"
)
_CALL = re.compile(r"= (?:tail |notail )?call [^@]*@(?!llvm\.|ks\.)")
_FLOATING = re.compile(rf"(?:float|double|half|bfloat|<[^>]*>) (?:\w+ )*?({LOCAL})")
_COMPUTED = re.compile(rf" = (?:fadd|fsub|fmul|fdiv|and|urem|add|sub|mul|lshr) (?:\w+ )*?{_KIND} ([^,\s]+), ([^,\s]+)")
_PHI = re.compile(r" = phi .*")
_INCOMING = re.compile(r"\[ ([^,\s]+), %")
_PLACE = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(
    r"^!(\d+) = (?:distinct )?!DILocation"
    r"\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?",
    re.M,
)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock(?:File)?)\([^\n]*?\bfile: !(\d+)", re.M)
_FILE = re.compile(rf'^!(\d+) = !DIFile\(filename: "{re.escape(SOURCE)}"', re.M)
_SIDES = {"i": "slt", "u": "ult", "f": "olt"}


@dataclass(frozen=True)
class DataCondition:
    """One comparison in the candidate's file; after unrolling several marks may belong to it."""

    line: int
    column: int
    constants: tuple[str, ...] = ()  # LLVM's text of what it compares with, where that is fixed
    is_equality: bool = False
    how: str = ""  # LLVM's word for the comparison; none for several that are joined, or one too wide to record
    kind: str = ""  # LLVM's type of both sides
    fixed: tuple[bool, bool] = (False, False)  # which sides are numbers in the code


def with_marks(sealed: str, *, is_recorded: bool = False) -> tuple[str, tuple[DataCondition, ...]]:
    """The sealed module with a mark behind each comparison of values from memory, and the condition of each mark.

    `is_recorded`: a call of the runtime's stands behind each mark as well, and gets what was compared.
    """
    places, found, parts, end = _OwnPlaces(sealed), list[DataCondition](), list[str](), 0
    sites = Sites() if is_recorded else None
    for body in bodies(sealed):
        made = _marked(body, places, found, sites) if body.has_lines else {}
        if made:
            lines = (made.get(number, line) for number, line in enumerate(body.lines))
            parts += [sealed[end : body.start], "\n".join(lines)]
            end = body.end
    if not found:
        return sealed, ()
    outside = f"@{OUTCOMES} = external global [{2 * MOST} x i8]\n"
    if sites:
        outside += DECLARED + "".join(sites.tables)
    return "".join([*parts, sealed[end:], outside]), tuple(found)


def write_marked(work: Path, sealed: str) -> None:
    """Write the module with its marks, their conditions beside it, and where there are any the module without marks."""
    marked, found = with_marks(sealed)
    (work / SEALED).write_text(marked, encoding="utf-8")
    if found:
        (work / UNMARKED).write_text(sealed, encoding="utf-8")
    (work / _KEPT).write_text(dumps(found), encoding="utf-8")


def conditions_in(work: Path) -> tuple[DataCondition, ...]:
    """Those that were written there."""
    return loads(tuple[DataCondition, ...], read_output(work / _KEPT).decode())


def numbers_in(conditions: Sequence[DataCondition], places: Iterable[OneSided] | None = None) -> tuple[float, ...]:
    """Numbers that the conditions compare with, at these places or at all of them, but for zero."""
    wanted = None if places is None else {(place.line, place.column) for place in places}
    chosen = (each for each in conditions if wanted is None or (each.line, each.column) in wanted)
    texts = dict.fromkeys(text for each in chosen for text in each.constants)
    read = (_number(text) for text in texts)
    return tuple(number for number in read if number is not None and math.isfinite(number) and number)


def _number(text: str) -> float | None:
    """A constant of LLVM's text form: decimal, or the bits of a type."""
    for prefix, kind, bits in (("0xH", np.float16, np.uint16), ("0xR", ml_dtypes.bfloat16, np.uint16)):
        if text.startswith(prefix):
            return float(np.array(int(text[3:], 16), bits).view(kind))
    if text.startswith("0x"):
        return float(np.array(int(text[2:], 16), np.uint64).view(np.float64))
    try:
        return float(text)
    except ValueError:
        return None  # true, null, undef


def _marked(body: Body, places: _OwnPlaces, found: list[DataCondition], sites: Sites | None) -> dict[int, str]:
    """The lines of a function that are followed by a mark."""
    given = _DataFlow(body)
    made = dict[int, str]()
    if sites is not None:
        sites.begin()
    for number, line in enumerate(body.lines):
        truth, bounded = _COMPARED.match(line) or _JOINED.match(line), _BOUNDED.match(line)
        one = truth or bounded
        if one is None or "!nosanitize" in line or len(found) >= MOST:
            continue
        sides = [text for key, text in one.groupdict().items() if text and key not in ("name", "kind", "side")]
        if given.values.isdisjoint(sides):
            continue
        constants = tuple(text for side in sides for text in given.constants(side))
        where = places.of(line, is_bound=bounded is not None)
        if where is None or (bounded and _INFINITE.issuperset(constants)):
            continue
        mark = _mark(len(found), truth["name"]) if truth else _bound(len(found), one)
        made[number] = f"{line}\n{mark}"
        condition = DataCondition(*where, constants, _EQUALITY.match(line) is not None)
        if how := _how(line, bounded):
            kind, pair = one["kind"], (one["left"], one["right"])
            fixed = not pair[0].startswith("%"), not pair[1].startswith("%")
            condition = replace(condition, how=how, kind=kind, fixed=fixed)
            if sites is not None:
                name, listed = truth["name"] if truth else f"%ks.bound.{len(found)}", sites.of(body, pair)
                table = sites.table(len(found), listed), len(listed)
                made[number] += f"\n{recorded(len(found), name, kind, pair, table)}"
        found.append(condition)
    if sites is not None:
        sites.close(body, made)
    return made


def _how(line: str, bounded: re.Match[str] | None) -> str:
    """The word for the comparison of two sides that fit a word each; empty for any other line."""
    if bounded:
        return _side(bounded) if can_record(bounded["kind"]) else ""
    compared, how = _COMPARED.match(line), _HOW.match(line)
    return how["how"] if compared and how and can_record(compared["kind"]) else ""


def _side(one: re.Match[str]) -> str:
    return _SIDES["u" if one["side"][0] == "u" else "i"] if one["kind"].startswith("i") else _SIDES["f"]


def _mark(number: int, truth: str) -> str:
    at, place = f"%ks.outcome.{number}", f"%ks.outcome.{number}.place"
    return (
        f"  {at} = zext i1 {truth} to i64\n"
        f"  {place} = getelementptr i8, ptr getelementptr (i8, ptr @{OUTCOMES}, i64 {2 * number}), i64 {at}\n"
        f"  store i8 1, ptr {place}, align 1"
    )


def _bound(number: int, one: re.Match[str]) -> str:
    """A comparison of the two sides of a minimum or maximum, and its mark."""
    truth, kind, how = f"%ks.bound.{number}", one["kind"], _side(one)
    word = "icmp" if kind.startswith("i") else "fcmp"
    return f"  {truth} = {word} {how} {kind} {one['left']}, {one['right']}\n{_mark(number, truth)}"


@dataclass(frozen=True)
class _DataFlow:
    """The values of one function that rest on memory, on other work-items or on a number it was given."""

    body: Body

    def constants(self, side: str) -> tuple[str, ...]:
        """A side of a comparison that is fixed, what a running value begins with, and what is added or scaled by."""
        found, seen, fresh = list[str](), set[str](), [(side, 0)]
        while fresh and len(seen) + len(found) < FEW:
            name, depth = fresh.pop()
            if not name.startswith(("%", "@")):
                found.append(name)
                continue
            made = "" if name in seen else self.body.definitions.get(name, "")
            seen.add(name)
            if merged := _PHI.search(made):
                fresh += [(value, depth) for value in _INCOMING.findall(merged[0])]
            elif depth < DEPTH and (computed := _COMPUTED.search(made)):
                fresh += [(value, depth + 1) for value in computed.groups()]
        return tuple(found)

    @computed_once
    def values(self) -> frozenset[str]:
        users = dict[str, list[str]]()
        fresh = list(self._parameters())
        for line in self.body.lines:
            if not (made := DEFINITION.match(line)):
                continue
            if " = load " in line or _CALL.search(line):
                fresh.append(made[1])
            for name in operands(line):
                users.setdefault(name, []).append(made[1])
        known = set[str]()
        while fresh:
            if (name := fresh.pop()) not in known:
                known.add(name)
                fresh += users.get(name, ())
        return frozenset(known)

    def _parameters(self) -> Iterator[str]:
        """Floating parameters: whole numbers are indices and lengths more often than data."""
        head = self.body.head
        yield from _FLOATING.findall(head)


class _OwnPlaces:
    """Lines and columns of the candidate's file by the numbers of locations."""

    def __init__(self, module: str) -> None:
        files = set(_FILE.findall(module))
        self._own = {scope for scope, file in _SCOPE.findall(module) if file in files}
        self._rows = {row[0]: row[1:] for row in _LOCATION.findall(module)}

    def of(self, line: str, *, is_bound: bool) -> tuple[int, int] | None:
        """Line and column of a comparison in the candidate's own text; a bound's is where a header's was called."""
        found = _PLACE.search(line)
        at = found[1] if found else ""
        while at in self._rows:
            row, column, scope, outer = self._rows[at]
            if scope in self._own and int(row):
                return int(row), int(column or 0)
            if not is_bound:
                return None
            at = outer
        return None
