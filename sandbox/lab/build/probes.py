"""Adds calls to the front end's code for what clang 22 does not watch, and takes away what it watches too strictly.

Four things are added, each where the runtime (`runtime/witness.cpp`) can tell at the line whether it is a fault:

- whole copies (`float4 v = *p`): clang 22 checks the alignment of loads and stores of scalars and native vectors only;
- indexed arrays: clang compares with the array that is named in the expression. A row of an array that is overrun into
  the next row is no fault here, what lies outside of the whole array is;
- ballots cut to 32 bits, by a cast or without one, when nothing in the function takes their upper half: `Ballots`;
- promises to the compiler (`__builtin_assume`, `__builtin_unreachable`, a missing return, `noreturn`): the optimiser
  drops what contradicts them, another one does something else.

What a variable holds before its first value and after its end is replaced too, and what a number beyond an integer's
range becomes and the number of zeros before or behind no bit: `unset`, `ended`, `saturation`, `no_bits`.

Text in, text out, before any optimisation: there every variable is an `alloca`, every use a `load`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.amdgcn.ballots import Ballots, returning_ballots
from sandbox.amdgcn.ir import DEBUG, VALUE, Body, bodies
from sandbox.lab.build.ended import ended
from sandbox.lab.build.no_bits import with_unset_counts
from sandbox.lab.build.saturation import saturating
from sandbox.lab.build.unset import RUNTIME as UNSET
from sandbox.lab.build.unset import marks, unset

_COPY = re.compile(rf"call void @llvm\.mem(?:cpy|move)\.\S+?\((.*?), (?:i64|i32) {VALUE}, i1 ")
_FILL = re.compile(rf"call void @llvm\.memset\.\S+?\((.*?), i8 {VALUE}, (?:i64|i32) {VALUE}, i1 ")
_OPERAND = re.compile(rf"ptr (?:\w+ )*?align (\d+) (?:\w+(?:\(\d+\))? )*?({VALUE})$")
_BEYOND = re.compile(rf"call void @__ubsan_handle_out_of_bounds\(ptr \S+, i64 ({VALUE})\)")
_JUMP = re.compile(r"br label %([^\s,]+)")
_ELEMENT = re.compile(rf"getelementptr (?:[a-z]+ )*(\[(\d+) x (.*)\]), ptr ({VALUE}), i64 0, i64 ({VALUE})")
_MEMBER = re.compile(rf"getelementptr (?:[a-z]+ )*\S+.*?, ptr ({VALUE}), ")
_PROMISE = re.compile(rf"^  call void @llvm\.assume\(i1 (?:noundef )?({VALUE})\)")
_NO_RETURN = re.compile(r"^attributes (#\d+) = \{[^}]*\bnoreturn\b", re.M)
_LDS = re.compile(rf"@llvm\.threadlocal\.address\.\w+\(ptr (?:\w+ )*?(?:align \d+ )?({VALUE})\)")
_EXTERNAL = re.compile(rf"^({VALUE}) = external ", re.M)
_REACH = 5  # lines in which the element's address follows its check

RUNTIME = (
    UNSET
    + """declare void @ks.misaligned(i64, i64, i64) cold noreturn
declare preserve_mostcc void @ks.beyond(ptr, i64, ptr, i64, i64, i64, i64) #9099
attributes #9099 = { cold nounwind willreturn memory(inaccessiblemem: readwrite) } ; or no load could pass it
declare preserve_mostcc void @ks.halved() cold
declare void @ks.broken() cold noreturn
define internal void @ks.copied(ptr %place, i64 %alignment, i64 %write) alwaysinline sanitize_address {
  %address = ptrtoint ptr %place to i64
  %mask = sub i64 %alignment, 1
  %rest = and i64 %address, %mask
  %good = icmp eq i64 %rest, 0
  br i1 %good, label %done, label %bad
bad:
  call void @ks.misaligned(i64 %address, i64 %alignment, i64 %write)
  unreachable
done:
  ret void
}
define internal void @ks.promised(i1 %holds) alwaysinline sanitize_address {
  br i1 %holds, label %done, label %bad
bad:
  call void @ks.broken()
  unreachable
done:
  ret void
}
define internal void @ks.cut(i64 %ballot) alwaysinline sanitize_address {
  %good = icmp ult i64 %ballot, 4294967296
  br i1 %good, label %done, label %bad
bad:
  call preserve_mostcc void @ks.halved()
  br label %done
done:
  ret void
}
"""
)


def add_probes(text: str) -> str:
    """The module with probes. What is not understood is left as it is."""
    text = with_unset_counts(saturating(text))
    sources = returning_ballots(text)
    externals, endless = set(_EXTERNAL.findall(text)), set(_NO_RETURN.findall(text))
    marked, parts, end = marks(text), [], 0
    for body in bodies(text):
        head = text[text.rindex("define ", 0, body.start) : body.start].split()
        probed = _Probed(body, externals, not endless.isdisjoint(head))
        probed.copies()
        probed.promises()
        probed.arrays()
        probed.ballots(Ballots(body, sources))
        probed.replace(unset(body, marked))
        probed.replace(ended(body))
        parts += [text[end : body.start], probed.text()]
        end = body.end
    return "".join([*parts, text[end:], RUNTIME])


@dataclass
class _Probed:
    """One function and what comes before or instead of its lines."""

    body: Body
    externals: set[str]
    is_endless: bool  # it is declared never to return
    before: dict[int, list[str]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def text(self) -> str:
        if not self.before and not self.gone:
            return self.body.text
        made: list[str] = []
        for number, line in enumerate(self.body.lines):
            made += self.before.get(number, ())
            if number not in self.gone:
                made.append(line)
        return "\n".join(made)

    def copies(self) -> None:
        """The pointers of whole copies that are not to a variable of the function."""
        if "@llvm.mem" not in self.body.text:
            return
        for number, line in enumerate(self.body.lines):
            found = "@llvm.mem" in line and (_COPY.search(line) or _FILL.search(line))
            if not found or (self.body.has_lines and not DEBUG.search(line)):
                continue
            for position, operand in enumerate(found[1].split(", ")):
                pointer = _OPERAND.match(operand)
                if pointer and int(pointer[1]) > 1 and not self._is_own(pointer[2]):
                    self._probe(number, f"@ks.copied(ptr {pointer[2]}, i64 {pointer[1]}, i64 {1 - position})")

    def promises(self) -> None:
        """Promises of the source to the compiler: each is tried where it is made."""
        if not self.is_endless and "unreachable" not in self.body.text and "@llvm.assume" not in self.body.text:
            return
        for number, line in enumerate(self.body.lines):
            if line.startswith("  unreachable") or (self.is_endless and line.startswith("  ret ")):
                self._probe(number, "@ks.broken()")
            found = "@llvm.assume" in line and _PROMISE.match(line)
            if found and found[1] != "true" and (DEBUG.search(line) or not self.body.has_lines):
                self._probe(number, f"@ks.promised(i1 {found[1]})")

    def arrays(self) -> None:
        """At a failed check of an index by clang: test whether the element is outside of the whole array."""
        if "@__ubsan_handle_out_of_bounds" not in self.body.text:
            return
        block = ""
        for number, line in enumerate(self.body.lines):
            block = line.split(":")[0] if line[:1].strip() else block
            found = "@__ubsan_handle_out_of_bounds" in line and _BEYOND.search(line)
            if not found:
                continue
            element = self._element_after(number)
            if self._only_addressed(block):
                self.gone.add(number)  # no access, and an access through the pointer is checked by itself
            elif element is not None:
                self.gone.add(number)
                self._beyond(number, element, found[1])

    def ballots(self, ballots: Ballots) -> None:
        for number, value in ballots.cuts():
            if DEBUG.search(self.body.lines[number]):
                self._probe(number, f"@ks.cut(i64 {value})")
        self.gone |= ballots.excused()

    def replace(self, lines: Mapping[int, list[str]]) -> None:
        self.gone |= lines.keys()
        for number, made in lines.items():
            self.before.setdefault(number, []).extend(made)

    def _probe(self, number: int, call: str) -> None:
        place = DEBUG.search(self.body.lines[number])
        self.before.setdefault(number, []).append(f"  call void {call}{f', {place[0]}' if place else ''}")

    def _beyond(self, number: int, element: re.Match[str], index: str) -> None:
        kind, count, item, base = element[1], element[2], element[3], element[4]
        array, top = kind, base
        while outer := _ELEMENT.search(self.body.definitions.get(top, "")):
            array, top = outer[1], outer[4]
        root = self._root(top)
        if root in self.externals:
            return  # dynamic LDS: its declared length says nothing
        place, name = DEBUG.search(self.body.lines[number]), f"%ks.element.{number}"
        suffix = f", {place[0]}" if place else ""
        known = int(root.startswith("@") or root in self.body.variables)
        self.before.setdefault(number, []).extend(
            (
                f"  {name} = getelementptr {kind}, ptr {base}, i64 0, i64 {index}{suffix}",
                f"  call preserve_mostcc void @ks.beyond(ptr {name}, i64 {_size(item)}, ptr {top}, i64 {_size(array)}, "
                f"i64 {index}, i64 {count}, i64 {known}){suffix}",
            )
        )

    def _element_after(self, number: int) -> re.Match[str] | None:
        """The address computed after the check that ends at this line; None where there is none, as for a vector."""
        jump = _JUMP.search(self.body.lines[number + 1])
        if not jump or jump[1] not in self.body.labels:
            return None
        start = self.body.labels[jump[1]] + 1
        for line in self.body.lines[start : start + _REACH]:
            found = _ELEMENT.search(line)
            if found:
                before = found[4].startswith("@") or self.body.places.get(found[4], 0) < number
                return found if before else None
            if "call " in line or "load " in line or "store " in line:
                return None
        return None

    def _only_addressed(self, block: str) -> bool:
        """`&a[n]`: the comparison lets n be the array's length."""
        return " icmp ule " in self.body.definitions.get(self.body.conditions.get(block, ""), "")

    def _root(self, name: str) -> str:
        """Origin of a pointer: a variable, a global, or the value itself where the origin is unknown."""
        while name in self.body.definitions and name not in self.body.variables:
            text = self.body.definitions[name]
            step = _ELEMENT.search(text)
            found = step[4] if step else (m[1] if (m := _MEMBER.search(text) or _LDS.search(text)) else None)
            if found is None:
                return name
            name = found
        return name

    def _is_own(self, name: str) -> bool:
        return self._root(name) in self.body.variables or name.startswith("@")


def _size(kind: str) -> str:
    return f"ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)"
