"""Elements written to places as device functions of one element, which looks for what is written to it."""

from __future__ import annotations

from typing import Any

from imports.graph import Operation, Ref, Size
from imports.hip_values import C_TYPES, HipValues, c_expression, number
from imports.node_arguments import masked_places
from imports.refusal import ImportRefused


class HipScatters(HipValues):
    """Bodies of functions that find the value of an element among those that are written to many."""

    def _index_put(self, node: Operation, indices: list[str]) -> str:
        """Write the last of the values that are written here, or the element with their sum."""
        x, positions, values, adds = (*node.args, False)[:4]
        axes = [k for k, position in enumerate(positions) if position is not None]
        if masked_places(self._graph, node):
            mask = self.value(positions[0].name, indices[: len(self._graph.shape_of(positions[0].name))])
            only = self.operand(
                values, Operation("", "", (), {}, (1,) * len(indices), node.dtype), ["0"] * len(indices)
            )
            return f"return {mask} ? {only} : {self.value(x.name, indices)};"
        if axes != list(range(axes[0], axes[-1] + 1)):
            raise ImportRefused("a write to axes that are apart has no naive kernel yet")
        first, last = axes[0], axes[-1] + 1
        middle = self._broadcast([self._graph.shape_of(positions[k].name) for k in axes])
        loops = [f"r{k}" for k in range(len(middle))]
        index = Operation("", "", (), {}, middle, "")
        lines = []
        for k in axes:
            lines.append(f"Index p{k} = {self.operand(positions[k], index, loops)};")
            lines.append(f"if (p{k} < 0) p{k} += {c_expression(self._graph.shape_of(x.name)[k])};")
        written_node = Operation("", "", (), {}, (*node.shape[:first], *middle, *node.shape[last:]), node.dtype)
        value = self.operand(values, written_node, [*indices[:first], *loops, *indices[last:]])
        is_here = " && ".join(f"p{k} == {indices[k]}" for k in axes)
        return self._written_element(
            node, indices, list(zip(loops, middle, strict=True)), lines, is_here, value, bool(adds)
        )

    def _scatter(self, node: Operation, indices: list[str]) -> str:
        return self._along(node, indices, False)

    def _scatter_add(self, node: Operation, indices: list[str]) -> str:
        return self._along(node, indices, True)

    def _along(self, node: Operation, indices: list[str], adds: bool) -> str:
        """Values that an index spreads along one axis."""
        if node.kwargs.get("reduce"):
            raise ImportRefused("a scatter with reduce has no naive kernel yet")
        axis, index, source = node.args[1] % len(indices), node.args[2], node.args[3]
        shape = self._graph.shape_of(index.name)
        source_indices = [*indices[:axis], "r0", *indices[axis + 1 :]]
        inside = [
            f"{i} < {c_expression(s)}"
            for k, (i, s, full_extent) in enumerate(zip(indices, shape, node.shape, strict=True))
            if k != axis and s != full_extent
        ]
        is_spread = isinstance(source, Ref) and bool(self._graph.shape_of(source.name))
        value = self.value(source.name, source_indices) if is_spread else self.operand(source, node, indices)
        is_here = " && ".join([*inside, f"{self.value(index.name, source_indices)} == {indices[axis]}"])
        return self._written_element(node, indices, [("r0", shape[axis])], [], is_here, value, adds)

    def _written_element(
        self,
        node: Operation,
        indices: list[str],
        loops: list[tuple[str, Size]],
        lines: list[str],
        is_here: str,
        value: str,
        adds: bool,
    ) -> str:
        wide = "double" if adds and node.dtype[0] in "fb" and node.dtype != "bool" else C_TYPES[node.dtype]
        heads = [f"for (Index {name} = 0; {name} < {c_expression(size)}; ++{name})" for name, size in loops]
        inner = [*lines, f"if ({is_here}) found {'+=' if adds else '='} {value};"]
        return "\n    ".join(
            [f"{wide} found = {self.value(node.args[0].name, indices)};", *heads, "{", *inner, "}", "return found;"]
        )

    def _slice_scatter(self, node: Operation, indices: list[str]) -> str:
        x, source, *bounds = node.args
        options = dict(zip(("dim", "start", "end", "step"), bounds, strict=False)) | dict(node.kwargs)
        axis = (options.get("dim") or 0) % len(indices)
        size = self._graph.shape_of(source.name)[axis]
        first, step = self._first(options.get("start") or 0, node.shape[axis]), number(options.get("step") or 1, "i64")
        source_indices = [*indices[:axis], "n", *indices[axis + 1 :]]
        return "\n    ".join(
            [
                f"const Index d = {indices[axis]} - {first}, n = d / {step};",
                f"return d >= 0 && d % {step} == 0 && n < {c_expression(size)} ? "
                f"{self.value(source.name, source_indices)} : {self.value(x.name, indices)};",
            ]
        )

    def _select_scatter(self, node: Operation, indices: list[str]) -> str:
        x, source, axis, index = node.args[:4]
        axis %= len(indices)
        value = self.value(source.name, [*indices[:axis], *indices[axis + 1 :]])
        is_here = f"{indices[axis]} == {self._first(index, node.shape[axis])}"
        return f"return {is_here} ? {value} : {self.value(x.name, indices)};"

    @staticmethod
    def _first(start: Any, size: Size) -> str:
        is_from_end = isinstance(start, int) and start < 0
        return f"({c_expression(size)} - {-start})" if is_from_end else number(start, "i64")

    @staticmethod
    def _broadcast(shapes: list[tuple[Size, ...]]) -> tuple[Size, ...]:
        rank = max(len(shape) for shape in shapes)
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        return tuple(next((s for s in sizes if s != 1), 1) for sizes in zip(*padded, strict=True))
