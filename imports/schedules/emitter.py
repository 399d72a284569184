"""LoopStatements for one element of an iteration: values that a loop has at hand are variables, others are loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from imports.graph import Graph, Operation, Size, refs
from imports.hip_ops import CALLS, INFIX, HipWriter
from imports.hip_text import STORAGE
from imports.hip_values import C_TYPES, c_expression, number
from imports.node_arguments import plain
from imports.numpy_ops import SAME, SAME_SHAPE_VIEWS
from imports.refusal import ImportRefused
from imports.schedules.case_sizes import CaseSizes
from imports.schedules.index_digits import ELEMENT, ITEM, ROW, VECTOR, IndexDigits, NotDirect
from tasks.dtypes import size_bytes

GUARDED = ("cat", "constant_pad_nd", "slice_scatter", "select_scatter")  # read an operand only where it has an element
PLAIN_BODIES = (
    "pow",
    *("where", "clamp", "clamp_min", "rsub", "copy", "to_copy", "convert_element_type", "scalar_tensor", "full"),
    *("full_like", "zeros", "zeros_like", "ones", "ones_like", "iota", "arange", "tril", "triu", "gather"),
    *("index_select", "embedding", "broadcast_in_dim", "permute", "permute_copy", "transpose", "transpose_copy", "t"),
    *("t_copy", "slice", "slice_copy", "select", "select_copy", "flip", "expand", "expand_copy", "repeat"),
)
CHEAP = ("abs", "floor", "ceil", "round", "trunc", "maximum", "minimum", "relu", "square", "neg", "logical_not")
LONGEST = 2000  # characters of an expression under a guard

Place = tuple[str, tuple[str, ...]]  # a value and the indices of its element


@dataclass(frozen=True)
class Load:
    """A load of an element of a vector into a variable."""

    kind: str
    variable: str
    expression: str
    item_bytes: int


@dataclass
class LoopStatements:
    """What was written for one turn of a loop, by level, and the variables that hold elements."""

    lines: dict[int, list[str]] = field(default_factory=lambda: {ROW: [], VECTOR: [], ELEMENT: []})
    loads: dict[Place, Load] = field(default_factory=dict)  # that may go before all else
    costly: dict[Place, str] = field(default_factory=dict)  # types of values that are worth keeping


class Emitter(HipWriter):
    """Writes elements of a graph's values; `loadable` are names in memory, `internal` those of the kernel itself."""

    def __init__(self, graph: Graph, extents: CaseSizes, loadable: Mapping[str, str], internal: frozenset[str]) -> None:
        super().__init__(graph)
        self.extents = extents
        self.indices = IndexDigits(extents)
        self.loaded: set[str] = set()
        self.called: set[str] = set()  # values that are functions of the file
        self.computed = ""  # the value that a function of this kernel alone computes
        self.load_bytes: list[int] = []
        self.variables: dict[Place, str] = {}
        self.hits: set[Place] = set()  # places that were taken from variables
        self._loadable, self._internal = loadable, internal
        self._statements = LoopStatements()
        self._kinds: dict[str, str] = {}  # types of variables
        self._guards = 0

    # The loop

    def begin(self, held: Mapping[Place, str] | None = None) -> LoopStatements:
        """Begin the statements of another loop, for which `held` values have variables; values of rows stay."""
        rows = {p: v for p, v in self.variables.items() if self.indices.level(v) == ROW}
        self.variables = {**rows, **(held or {})}
        self._statements = LoopStatements()
        for variable in (held or {}).values():
            self.indices.levels[variable.split("[")[0]] = ELEMENT
        return self._statements

    def define(self, name: str, indices: Sequence[str], variable: str, kind: str) -> None:
        """Name the variable of a row's value, of a type of C++."""
        self.indices.levels[variable] = ROW
        self._kinds[variable] = kind
        self.variables[name, tuple(indices)] = variable

    # Values

    def value(self, name: str, indices: Sequence[str]) -> str:
        """Write the element of a value, as a variable where it may be computed in any case."""
        place = (name, tuple(indices))
        if place in self.variables:
            self.hits.add(place)
            return self.variables[place]
        if name in self._internal:
            raise NotDirect(name)
        if name in self._inputs or name in self._loadable:
            return self._loading(place)
        node = self._nodes[name]
        if name == self.computed:
            return self._bind(place, C_TYPES[node.dtype], f"g_{name}({', '.join(['q_', *indices])})")
        if not node.dtype:
            raise ImportRefused(f"a value of {node.op} has no direct form")
        op = plain(node.op).strip("_")
        if op in INFIX or op in CALLS or op in PLAIN_BODIES or op in SAME:
            text = self.body(node, list(indices))
        elif op in SAME_SHAPE_VIEWS or (op == "as_strided" and self._is_dense(node)):
            text = self._reshaped_element(node, list(indices))
        elif op in GUARDED:
            self._guards += 1
            text = self.body(node, list(indices))
            self._guards -= 1
        else:
            return self._function(place)
        return self._written(place, node, text)

    def _written(self, place: Place, node: Operation, text: str) -> str:
        single = re.fullmatch(r"return ([^;]*);", text)
        kind = C_TYPES[node.dtype]
        expression = single[1] if single else f"[&]() -> {kind} {{ {text} }}()"
        if self._guards:
            if len(expression) > LONGEST:
                raise ImportRefused("an expression under a guard is too long for a tuned kernel")
            return f"({kind})({expression})"
        same = expression.removeprefix(f"({kind})")
        if self._kinds.get(same) == kind:
            self.variables[place] = same
            return same
        variable = self._bind(place, kind, expression)
        op = plain(node.op)
        if (op in CALLS and op not in CHEAP) and self.indices.level(variable) == ELEMENT:
            self._statements.costly[place] = C_TYPES[node.dtype]
        return variable

    def _bind(self, place: Place | None, kind: str, expression: str) -> str:
        level = self.indices.level(expression)
        variable = self.indices.new_variable(level)
        self._kinds[variable] = kind
        self._statements.lines[level].append(f"const {kind} {variable} = {expression};")
        if place is not None:
            self.variables[place] = variable
        return variable

    def _loading(self, place: Place) -> str:
        name, indices = place
        self.loaded.add(name)
        buffer = self._loadable.get(name, name)
        tensor = self._graph.values()[name]
        kind = C_TYPES[tensor.dtype]
        element = self.indices.storage_element(buffer, tensor.shape, indices)
        expression = element if STORAGE[tensor.dtype] == kind else f"({kind}){element}"
        if self._guards:
            return expression
        words = set(re.findall(r"[A-Za-z]\w*_\b", expression)) - {"q_", ITEM}
        if self.indices.level(expression) == ELEMENT and all(self.indices.levels.get(w, ROW) < ELEMENT for w in words):
            variable = self.indices.new_variable(ELEMENT)
            self._kinds[variable] = kind
            self._statements.loads[place] = Load(kind, variable, expression, size_bytes(tensor.dtype))
            self.variables[place] = variable
            return variable
        return self._bind(place, kind, expression)

    def _function(self, place: Place) -> str:
        self._require_memory(place[0], set())
        self.called.add(place[0])
        return super().value(*place)

    def _require_memory(self, name: str, seen: set[str]) -> None:
        if name in self._inputs or name in self._loadable:
            self.loaded.add(name)
            return
        if name in seen:
            return
        if name in self._internal:
            raise NotDirect(name)
        seen.add(name)
        node = self._nodes[name]
        for other in references(node):
            self._require_memory(other, seen)

    # Indices

    def _reshaped_element(self, node: Operation, indices: list[str]) -> str:
        """Write the element at the same place in row-major order by the digits of its indices."""
        source = self._graph.shape_of(node.args[0].name)
        try:
            source_indices = self.indices.coordinates(self.indices.digits_of(node.shape, indices), source)
            return f"return {self.value(node.args[0].name, source_indices)};"
        except NotDirect as error:
            if str(error) in self._internal:
                raise
            return f"return {self._function((node.name, tuple(indices)))};"

    def _is_dense(self, node: Operation) -> bool:
        """Tell whether a view by strides has its elements in order."""
        sizes, strides = list(node.shape), list(node.args[2])
        if (*node.args, None)[3] not in (None, 0):
            return False
        steps = [getattr(s, "text", s) for s in strides]
        return all(
            str(size) == "1" or self.extents.are_equal([step], sizes[k + 1 :])
            for k, (size, step) in enumerate(zip(sizes, steps, strict=True))
        )

    def _slice(self, node: Operation, indices: list[str]) -> str:
        axis, step = (node.args[1] if len(node.args) > 1 else 0) % len(indices), (*node.args, *(None,) * 5)[4]
        if indices[axis] not in self.indices.starts or step not in (None, 1):
            return super()._slice(node, indices)
        x, _, start = (*node.args, *(None,) * 2)[:3]
        if isinstance(start, int) and start < 0:
            first = f"{c_expression(self._graph.shape_of(x.name)[axis])} - {-start}"
        else:
            first = number(start or 0, "i64")
        return f"return {self.value(x.name, self._moved(indices, axis, first, '+'))};"

    _slice_copy = _slice

    def _moved(self, indices: Sequence[str], axis: int, by: str, sign: str) -> list[str]:
        """Move an index by a number, if any, so that its vector still has a beginning."""
        moved = list(indices)
        if by != "0":
            moved[axis] = f"({indices[axis]} {sign} ({by}))"
            if indices[axis] in self.indices.starts:
                self.indices.starts[moved[axis]] = f"({self.indices.starts[indices[axis]]} {sign} ({by}))"
        return moved

    def _cat(self, node: Operation, indices: list[str]) -> str:
        """Choose the part for a whole vector where parts begin with vectors."""
        axis = (node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)) % len(indices)
        sizes = [self._graph.shape_of(part.name)[axis] for part in node.args[0]]
        lines, before = list[str](), list[Size]()
        tested = self.indices.starts.get(indices[axis], indices[axis])
        for part, size in zip(node.args[0], sizes, strict=True):
            start = " + ".join(c_expression(s) for s in before) or "0"
            value = self.value(part.name, self._moved(indices, axis, start, "-"))
            before.append(size)
            if len(before) == len(sizes):
                lines.append(f"return {value};")
                break
            if tested != indices[axis]:
                self.indices.vector_steps[str(size)] = size
            lines.append(f"if ({tested} < {' + '.join(c_expression(s) for s in before)}) return {value};")
        return " ".join(lines)


def references(node: Operation) -> list[str]:
    """List the names that an operation takes."""
    return list(refs([*node.args, *node.kwargs.values()]))
