"""Kernels of a tuned seed and their launches, before they become a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from imports.graph import Graph, Size
from imports.hip_text import CONVERTED, STORAGE
from imports.hip_values import C_TYPES, c_expression
from imports.schedules.case_sizes import CaseSizes
from imports.schedules.emitter import Emitter, LoopStatements
from imports.schedules.index_digits import ITEM

UNROLLED = "#pragma unroll"
WIDEST = 16  # bytes of a load


@dataclass(frozen=True)
class Kernel:
    """One launch: its code, its grid and block, and what it needs of the plan."""

    name: str
    code: Sequence[str]
    grid: str
    block: Sequence[str]
    tunables: Mapping[str, Sequence[int]] = field(default_factory=dict)
    constraints: Mapping[str, str] = field(default_factory=dict)
    workspaces: Mapping[str, tuple[str, Sequence[Size]]] = field(default_factory=dict)
    called: frozenset[str] = frozenset()  # values that are functions of the file
    computed: frozenset[str] = frozenset()  # values whose elements are computed by a function of the file
    loaded: frozenset[str] = frozenset()  # values that it takes from memory
    kinds: tuple[str, ...] = ()  # of products that it has, by the names of their functions


@dataclass(frozen=True)
class ScheduleJob:
    """What schedules know of the graph: where its values are in memory and what sizes its cases have."""

    graph: Graph
    extents: CaseSizes
    buffers: Mapping[str, str]  # of values in memory that kernels before have left, by name
    inputs: Mapping[str, str]  # of inputs that have another buffer
    has_matrix_cores: bool = False  # to multiply matrices with

    def emitter(self, internal: frozenset[str] = frozenset(), computed: str = "") -> Emitter:
        """Begin the statements of one kernel, which computes the `internal` values itself."""
        loadable = {n: b for n, b in self.buffers.items() if n not in internal and n != computed}
        emitter = Emitter(self.graph, self.extents, {**loadable, **self.inputs}, internal)
        emitter.computed = computed
        return emitter


@dataclass(frozen=True)
class StoredValue:
    """A value of the graph that a kernel stores."""

    value: str
    buffer: str
    dtype: str
    shape: tuple[Size, ...]

    def converted(self, text: str) -> str:
        """Write a computed element in the type in which it is stored."""
        if self.dtype in CONVERTED:
            return f"{CONVERTED[self.dtype]}({text})"
        return text if STORAGE[self.dtype] == C_TYPES[self.dtype] else f"({STORAGE[self.dtype]}){text}"


def stored(emitter: Emitter, result: StoredValue, indices: Sequence[str], text: str) -> str:
    """Write the store of an element."""
    return f"{emitter.indices.storage_element(result.buffer, result.shape, indices)} = {text};"


def vector_lines(
    emitter: Emitter, statements: LoopStatements, element_lines: Sequence[str], after: Sequence[str] = ()
) -> list[str]:
    """Write the statements of one vector: all loads, then all elements, then what stores them."""
    lines = [*emitter.indices.prelude[1], *statements.lines[1]]
    loads = statements.loads.values()
    lines += [f"{load.kind} {load.variable}a_[V];" for load in loads]
    if loads:
        lines += item_loop([f"{load.variable}a_[{ITEM}] = {load.expression};" for load in loads])
    taken = [f"const {load.kind} {load.variable} = {load.variable}a_[{ITEM}];" for load in loads]
    if element_lines:
        lines += item_loop([*taken, *statements.lines[2], *element_lines])
    return [*lines, *after]


def item_loop(lines: Sequence[str]) -> list[str]:
    """Write a loop over the elements of a vector."""
    return [UNROLLED, f"for (int {ITEM} = 0; {ITEM} < V; ++{ITEM}) {{", *indented(lines), "}"]


def indented(lines: Sequence[str], by: int = 1) -> list[str]:
    """Indent lines of code."""
    return [line if line.startswith("#") else f"{'    ' * by}{line}" for line in lines]


def whole_vectors(emitter: Emitter, inner: Size) -> str:
    """Write the condition under which all vectors are whole, and elements of one belong together."""
    steps = {str(inner): inner, **emitter.indices.vector_steps}
    return " && ".join(f"{c_expression(size)} % VEC == 0" for text, size in steps.items() if text != "1")


def widths(bytes_each: Sequence[int]) -> list[int]:
    """List the elements that a vector may have, the usual number first."""
    usual = max(1, min(8, WIDEST // max([*bytes_each, 1])))
    return list(dict.fromkeys([usual, max(1, usual // 2), min(16, usual * 2)]))


def chosen(function: str, condition: str) -> list[str]:
    """Call a function of whole vectors where they are whole, else that of single elements."""
    if not condition:
        return [f"{function}<VEC>(q_);"]
    return [f"if ({condition}) {function}<VEC>(q_);", f"else {function}<1>(q_);"]


def with_own_tunables(kernels: Sequence[Kernel], taken_names: Collection[str]) -> list[Kernel]:
    """Give each kernel tunables with names that no other kernel and no value has."""
    renamed, names = list[Kernel](), dict[str, str]()
    for number, kernel in enumerate(kernels):
        mine = {n: n if not number else f"{n}_{number + 1}" for n in kernel.tunables}
        names |= {n: f"{new}_OF_KERNEL" if new in taken_names else new for n, new in mine.items()}

        def written(text: object, names: Mapping[str, str] = {**names}) -> str:  # those of the kernel before, too
            return re.sub(r"(?<!q_\.)\b[A-Z]+\b", lambda word: names.get(word[0], word[0]), str(text))

        spaces = {n: (dtype, [written(size) for size in shape]) for n, (dtype, shape) in kernel.workspaces.items()}
        renamed.append(
            replace(
                kernel,
                code=[written(line) for line in kernel.code],
                grid=written(kernel.grid),
                block=[written(b) for b in kernel.block],
                tunables={names[n]: v for n, v in kernel.tunables.items()},
                constraints={f"{n}_{number + 1}": written(rule) for n, rule in kernel.constraints.items()},
                workspaces=spaces,
            )
        )
    return renamed
