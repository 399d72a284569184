"""Loads, stores and atomics of one function in a sealed module: see `sealed_ir`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from sandbox.lab.build.ir_types import UnknownText, leading, split
from sandbox.lab.build.sealed_ir import NAME, SealedModule

_PLAIN = frozenset(
    {
        "ret",
        "br",
        "switch",
        "unreachable",
        "fneg",
        "fence",
        "freeze",
        "phi",
        "select",
        "icmp",
        "fcmp",
        "trunc",
        "zext",
        "sext",
        "fptrunc",
        "fpext",
        "fptoui",
        "fptosi",
        "uitofp",
        "sitofp",
        "ptrtoint",
        "ptrtoaddr",
        "inttoptr",
        "bitcast",
        "extractelement",
        "insertelement",
        "shufflevector",
        "extractvalue",
        "insertvalue",
        "getelementptr",
        "add",
        "fadd",
        "sub",
        "fsub",
        "mul",
        "fmul",
        "udiv",
        "sdiv",
        "fdiv",
        "urem",
        "srem",
        "frem",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
    }
)
_LABEL = re.compile(rf"^{NAME}:(?:\s*;.*)?$")
_DEFINED = re.compile(rf"^  (?:(%{NAME}) = )?([a-z]+) ?(.*)$", re.S)
_CASE = re.compile(r"^    i\d+ -?\d+, label %\S+$|^  \](?:, !.*)?$")
_POINTER = re.compile(rf"^ptr (%{NAME}|@{NAME})$")
_WATCH = re.compile(r"(?:tail )?call void @__asan_(load|store)(N|\d+)_noabort\(i64 (.*)\)(?: #\d+)?((?:, !.*)?)$")
_ORDER = re.compile(r'(?: syncscope\("[^"]*"\))? (?:seq_cst|acquire|release|monotonic|unordered)$')
_ALIGNED = re.compile(r", align (\d+)")
MOST_PRIVATE_BYTES = 1 << 20  # of a function
_WIDTHS = frozenset({1, 2, 4, 8, 16})


@dataclass
class SealedAccesses(ABC):
    """The lines of one function, with every access made through a checked pointer."""

    module: SealedModule
    name: str
    lines: list[str]
    made: list[str] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)  # numbers that are a pointer's address
    offsets: dict[str, tuple[str, int]] = field(default_factory=dict)  # pointers at a constant place of a root
    roots: dict[str, int] = field(default_factory=dict)  # variables of the function, and their bytes
    checked: dict[str, tuple[int, bool]] = field(default_factory=dict)  # pointers for atomics: bytes, may be written
    pending: dict[tuple[bool, str], tuple[str, int]] = field(default_factory=dict)

    @abstractmethod
    def call(self, result: str | None, line: str) -> None:
        """Add a call, as far as it is allowed."""

    def sealed(self) -> list[str]:
        """The lines as they may be compiled; raises where one is not allowed."""
        self._note_roots()
        for line in self.lines:
            if not line or _LABEL.match(line):
                self.pending.clear()
                self.made.append(line)
            elif _CASE.match(line):
                self.made.append(line)
            else:
                self._instruction(line)
        return self.made

    def _note_roots(self) -> None:
        """Variables of the function, and the pointers at constant places in them; definitions may follow their uses."""
        for line in self.lines:
            found = _DEFINED.match(line)
            if not found or not found[1]:
                continue
            result, opcode, rest = found[1], found[2], found[3]
            if opcode == "alloca":
                self.roots[result] = self._alloca(rest, line)
            elif opcode == "ptrtoint":
                pointer = re.match(r"(ptr .*) to i64(?:, !.*)?$", rest)
                if pointer:
                    self.addresses[result] = pointer[1]
        if sum(self.roots.values()) > MOST_PRIVATE_BYTES:  # see kApartGuard in runtime/fibre.h
            raise self.module.refused("a function needs more than 1 MiB of private memory; use smaller arrays", "B.4")
        for line in self.lines:
            found = _DEFINED.match(line)
            if found and found[1] and found[2] == "getelementptr":
                self._element(found[1], found[3])

    def _alloca(self, rest: str, line: str) -> int:
        parts = split(rest)
        if any(not re.match(r"align \d+$|!", part) for part in parts[1:]) or parts[0].startswith(
            ("inalloca", "swifterror")
        ):
            raise self.module.refused("a variable whose size is known only at run time cannot be executed", "B.1", line)
        return self.module.types.size(parts[0])

    def _element(self, result: str, rest: str) -> None:
        rest = re.sub(r"^(?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )+", "", rest)
        kind, base, *steps = [part for part in split(rest) if not part.startswith("!")]
        pointer = _POINTER.match(base)
        numbers = [re.match(r"i\d+ (-?\d+)$", step) for step in steps]
        if not pointer or not all(numbers) or len(steps) > 2:
            return
        values = [int(number[1]) for number in numbers if number]
        try:
            offset = values[0] * self.module.types.size(kind)
            if len(values) == 2:
                array = re.match(r"\[\d+ x (.*)\]$", kind)
                if not array:
                    return
                offset += values[1] * self.module.types.size(array[1])
        except UnknownText:
            return
        self.offsets[result] = (pointer[1], offset)

    def place(self, pointer: str) -> tuple[str, int]:
        """Root of a pointer and the constant distance from it."""
        distance = 0
        for _ in range(64):
            if pointer not in self.offsets:
                break
            pointer, step = self.offsets[pointer]
            distance += step
        return pointer, distance

    def is_own(self, pointer: str, size: int) -> bool:
        """These bytes lie in a variable of the function, at a place that is known now."""
        root, distance = self.place(pointer)
        return root in self.roots and 0 <= distance <= self.roots[root] - size

    def _instruction(self, line: str) -> None:
        found = _DEFINED.match(line)
        if not found:
            raise self.module.refused(f"the lab cannot execute this code: {' '.join(line.split())[:60]}", "B.1", line)
        result, opcode, rest = found[1], found[2], found[3]
        if "addrspace(" in line:
            raise self.module.refused("the lab cannot execute an access to another address space", "B.1", line)
        if watch := _WATCH.match(line.strip()):
            self._watch(watch, line)
        elif opcode in ("load", "store"):
            self._access(result, opcode, rest, line)
        elif opcode in ("cmpxchg", "atomicrmw"):
            self._atomic(result, opcode, rest, line)
        elif opcode in ("call", "tail", "notail"):
            self.call(result, line)
        elif opcode in _PLAIN:
            if "blockaddress(" in line:
                raise self.module.refused("the lab cannot execute a computed jump", "B.1", line)
            self.made.append(line)
        elif opcode == "alloca":
            self.made.append(line)
        else:
            raise self.module.refused(f"the lab cannot execute the operation {opcode}", "B.1", line)

    def _watch(self, found: re.Match[str], line: str) -> None:
        """A check that the sanitizer has put before an access: it is made to give the pointer back."""
        address, *sizes = split(found[3])
        constant = re.match(r"ptrtoint \((ptr .*) to i64\)$", address)
        pointer = constant[1] if constant else self.addresses.get(address)
        if re.match(r"-?\d+$", address):
            pointer = f"ptr inttoptr (i64 {address} to ptr)" if address != "0" else "ptr null"
        width = sizes[0].removeprefix("i64 ") if sizes else found[2]
        if pointer is None or not width.isdigit():
            raise self.module.refused("a check of the lab's own may not be called", "A.1", line)
        write = found[1] == "store"
        self.pending[write, pointer.removeprefix("ptr ")] = (
            self.check(
                pointer.removeprefix("ptr "), int(width), line, write=write, private=False, loose=found[2] == "N"
            ),
            int(width),
        )

    def check(self, pointer: str, size: int, line: str, *, write: bool, private: bool, loose: bool = False) -> str:
        """A check before the line that follows; the name of the pointer that it gives back."""
        name, where = f"%ks.{len(self.made)}", re.search(r", !dbg !\d+", line)
        verb, promised = "store" if write else "load", _ALIGNED.search(line)
        aligned = int(promised[1]) if promised else size  # a check of the sanitizer's says it by its name
        if private:
            call = f"@ks.private(ptr {pointer}, i64 {size})"
        elif size in _WIDTHS and aligned >= min(size, 8) and not loose:
            call = f"@ks.{verb}{size}(ptr {pointer})"
        else:
            call = f"@ks.{verb}N(ptr {pointer}, i64 {size})"
        self.made.append(f"  {name} = call ptr {call}{where[0] if where else ''}")
        return name

    def _access(self, result: str | None, opcode: str, rest: str, line: str) -> None:
        atomic = re.match(r"atomic (?:volatile )?", rest)
        body = rest[atomic.end() :] if atomic else rest.removeprefix("volatile ")
        parts = split(body)
        kind = parts[0] if opcode == "load" else leading(parts[0])[0]
        pointer = parts[1].removeprefix("ptr ")
        if not parts[1].startswith("ptr "):
            raise self.module.refused("the lab cannot execute an access to another address space", "B.1", line)
        if atomic:
            pointer = _ORDER.sub("", pointer)
        size, write = self.module.types.stored(kind), opcode == "store"
        known = self.pending.pop((write, pointer), None)
        if atomic:
            safe = self._touched(pointer, size, line, write=write)
        elif known and known[1] >= size:
            safe = known[0]
        elif self.is_own(pointer, size) or not size:
            safe = pointer
        else:
            private = self.place(pointer)[0] in self.roots
            safe = self.check(pointer, size, line, write=write, private=private)
        self._with(line, pointer, safe)

    def _with(self, line: str, pointer: str, safe: str) -> None:
        """The line, with this pointer as its address."""
        if safe == pointer:
            self.made.append(line)
            return
        at = line.rfind(f", ptr {pointer}") if f", ptr {pointer}" in line else line.find(f" ptr {pointer}") - 1
        before, behind = line[:at], line[at:].replace(f"ptr {pointer}", f"ptr {safe}", 1)
        self.made.append(before + behind)

    def _touched(self, pointer: str, size: int, line: str, *, write: bool) -> str:
        if self.checked.get(pointer, (0, False))[0] >= size and (not write or self.checked[pointer][1]):
            return pointer
        name = f"%ks.{len(self.made)}"
        where = re.search(r", !dbg !\d+", line)
        self.made.append(
            f"  {name} = call ptr @ks_touch(ptr {pointer}, i64 {size}, i32 {int(write)}){where[0] if where else ''}"
        )
        return name

    def _is_used(self, result: str | None) -> bool:
        pattern = re.compile(re.escape(result or "%") + r"(?![-\w$.])")
        return result is not None and sum(len(pattern.findall(line)) for line in self.lines) > 1

    def _atomic(self, result: str | None, opcode: str, rest: str, line: str) -> None:
        rest = re.sub(r"^(?:weak |volatile )+", "", rest)
        first, value, *_ = split(rest.split(" ", 1)[1] if opcode == "atomicrmw" else rest)
        if not first.startswith("ptr "):
            raise self.module.refused("the lab cannot execute an access to another address space", "B.1", line)
        pointer, size = first.removeprefix("ptr "), self.module.types.stored(leading(value)[0])
        self.pending.pop((False, pointer), None)
        self.pending.pop((True, pointer), None)
        if opcode == "atomicrmw" and rest.startswith("xchg ") and not self._is_used(result):  # a store by an exchange
            self._with(line, pointer, self._touched(pointer, size, line, write=True))
            return
        if self.is_own(pointer, size) or (self.checked.get(pointer, (0, False)) >= (size, True)):
            self.made.append(line)
            return
        name, where = f"%ks.{len(self.made)}", re.search(r", !dbg !\d+", line)
        self.made.append(f"  {name} = call ptr @ks_atomic(ptr {pointer}, i64 {size}){where[0] if where else ''}")
        self.made.append(line.replace(f"ptr {pointer}", f"ptr {name}", 1))
