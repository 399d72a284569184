"""The steps of `build/decisions.py` for many shapes at once: the blocks each may reach, and what it decides there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sandbox.lab.build.decisions import Step, Steps
from sandbox.lab.decided_values import Values, computed, constant

Flags = npt.NDArray[np.bool_]
BOUNDED = ("umin", "umax", "smin", "smax", "minnum", "maxnum")  # which of the two it is, is a decision
MOST_ROUNDS = 32  # until what a loop may reach is found


@dataclass
class Decided:
    """All that `count` shapes decide. `leaf` gives the values of a leaf by kind and index, or None."""

    count: int
    leaf: Callable[[str, int], Values | None]
    values: dict[str, Values] = field(default_factory=dict)
    of_kinds: set[str] = field(default_factory=set)  # which follow from the kind of an argument, the same for all
    edges: dict[str, dict[str, Flags | None]] = field(default_factory=dict)  # to, from; None: for some items or data
    reach: dict[str, Flags] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)  # blocks that are reached where `reach` says so, and nowhere else
    asked: list[tuple[str, str]] = field(default_factory=list)  # block and name of each truth value

    def items(self, steps: Steps) -> Flags:
        """A row for each way: a block that is reached, or a truth value there that is true, or false."""
        block = ""
        with np.errstate(all="ignore"):
            for step in steps:
                block = self._take(step, block)
        self._spread()
        rows = list(self.reach.values())
        for where, name in self.asked:
            truth = self.values[name].astype(bool)
            rows += [self.reach[where] & truth, self.reach[where] & ~truth]
        return np.array(rows, bool).reshape(-1, self.count)

    def _take(self, step: Step, block: str) -> str:
        """Take one step; the block that the next one stands in."""
        match step:
            case ("block", label):
                self._enter(label)
                return label
            case ("leaf", name, kind, index):
                if (found := self.leaf(kind, int(index))) is not None:
                    self.values[name] = found
                    self.of_kinds |= {name} if kind == "kind" else set()
            case ("value", name, operation, kind, *operands):
                self._compute(block, name, operation, kind, operands)
            case ("parted", divisor):
                self._part(block, divisor)
            case ("phi", name, kind, *incoming):
                self._phi(block, name, kind, incoming)
            case ("jump", to):
                self._edge(block, to, np.ones(self.count, bool))
            case ("branch", condition, yes, no):
                truth = self._read(condition, "i1") if condition else None
                flags = None if truth is None else truth.astype(bool)
                self._edge(block, yes, flags)
                self._edge(block, no, None if flags is None else ~flags)
            case ("switch", value, kind, other, *cases):
                self._switch(block, self._read(value, kind) if value else None, kind, other, cases)
        return block

    def _enter(self, label: str) -> None:
        """Note the shapes that reach a block, by the edges known so far; those of loops come later."""
        found = self.edges.get(label, {}).items()
        is_entry = not self.reach
        self.reach[label] = np.full(self.count, is_entry)
        if is_entry or (found and all(at in self.exact and flags is not None for at, flags in found)):
            self.exact.add(label)
        for at, flags in found:
            self.reach[label] |= self.reach[at] if flags is None else self.reach[at] & flags

    def _edge(self, block: str, to: str, flags: Flags | None) -> None:
        if to in self.reach:
            self.exact.discard(to)  # a loop's
        into = self.edges.setdefault(to, {})
        known = into.get(block, flags)
        into[block] = None if known is None or flags is None else known | flags

    def _switch(self, block: str, value: Values | None, kind: str, other: str, cases: list[str]) -> None:
        left = np.ones(self.count, bool)
        for number, to in zip(cases[::2], cases[1::2], strict=True):
            flags = None if value is None else value == constant(number, kind, 1)
            self._edge(block, to, flags)
            left = left if flags is None else left & ~flags
        self._edge(block, other, None if value is None else left)

    def _spread(self) -> None:
        """Go round the loops until no block is reached by more."""
        edges = [
            (to, at, flags) for to in self.reach for at, flags in self.edges.get(to, {}).items() if at in self.reach
        ]
        for _ in range(MOST_ROUNDS):
            has_grown = False
            for to, at, flags in edges:
                more = self.reach[at] if flags is None else self.reach[at] & flags
                if (more & ~self.reach[to]).any():
                    self.reach[to] = self.reach[to] | more
                    has_grown = True
            if not has_grown:
                return

    def _read(self, word: str, kind: str) -> Values | None:
        return self.values.get(word) if word.startswith("%") else constant(word, kind, self.count)

    def _part(self, block: str, divisor: str) -> None:
        """Ask whether the launch's workgroups are a multiple of what a number, of a workgroup or so, is divided by."""
        by, grid = self.values.get(divisor), self.leaf("grid", 0)
        if by is not None and grid is not None:
            self.values[f"{divisor} parts"] = grid % np.maximum(by, 1) == 0
            self._ask(block, f"{divisor} parts")

    def _phi(self, block: str, name: str, kind: str, incoming: list[str]) -> None:
        """One of several values, by the way that was taken; not known where that depends on more than the launch."""
        made = None
        for word, at in zip(incoming[::2], incoming[1::2], strict=True):
            value, flags = self._read(word, kind), self.edges.get(block, {}).get(at)
            if value is None or flags is None or at not in self.exact:
                return
            made = value.copy() if made is None else np.where(self.reach[at] & flags, value, made)
        if made is not None:
            self._keep(block, name, kind, made)

    def _keep(self, block: str, name: str, kind: str, value: Values) -> None:
        self.values[name] = value
        if kind == "i1" and name not in self.of_kinds:
            self._ask(block, name)

    def _part_three(self, block: str, name: str, is_first: Flags, is_second: Flags) -> None:
        """Ask for each of the two apart: where they are equal, neither way has been gone."""
        self.values[f"{name} first"], self.values[f"{name} second"] = is_first, is_second
        self._ask(block, f"{name} first")
        self._ask(block, f"{name} second")

    def _ask(self, block: str, name: str) -> None:
        self.asked.append((block, name))

    def _compute(self, block: str, name: str, operation: str, kind: str, words: list[str]) -> None:
        word, *types = operation.split()
        source = types[-1] if types else kind
        kinds = ["i1", kind, kind] if word == "select" else [source] * len(words)
        if word in ("ctlz", "cttz", "abs"):
            kinds = [kind, "i1"]
        given = [self._read(each, of) for each, of in zip(words, kinds, strict=True)]
        if any(value is None for value in given):
            return
        made = computed(word, types, kind, [value for value in given if value is not None])
        if made is not None:
            if word in BOUNDED and given[0] is not None and given[1] is not None:
                self._part_three(block, name, (made == given[0]) & (made != given[1]), made != given[0])
            if word == "icmp" and self.of_kinds.intersection(words):
                self.of_kinds.add(name)
            self._keep(block, name, kind, made)
