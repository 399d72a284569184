"""Views and moved elements as device functions of one element."""

from __future__ import annotations

from imports.graph import Operation
from imports.hip_values import HipValues, c_expression, number
from imports.refusal import ImportRefused


class HipViews(HipValues):
    """Bodies of functions that take an element of an operand from another place."""

    def _broadcast_in_dim(self, node: Operation, indices: list[str]) -> str:
        source = self._graph.shape_of(node.args[0].name)
        operand_indices = ["0" if s == 1 else indices[to] for s, to in zip(source, node.args[2], strict=True)]
        return f"return {self.value(node.args[0].name, operand_indices)};"

    def _permute(self, node: Operation, indices: list[str]) -> str:
        operand_indices = [""] * len(indices)
        for axis, source in enumerate(node.args[1]):
            operand_indices[source % len(indices)] = indices[axis]
        return f"return {self.value(node.args[0].name, operand_indices)};"

    _permute_copy = _permute

    def _transpose(self, node: Operation, indices: list[str]) -> str:
        if node.op.startswith("prims"):
            return self._permute(node, indices)
        operand_indices, first, second = list(indices), node.args[1] % len(indices), node.args[2] % len(indices)
        operand_indices[first], operand_indices[second] = operand_indices[second], operand_indices[first]
        return f"return {self.value(node.args[0].name, operand_indices)};"

    _transpose_copy = _transpose

    def _t(self, node: Operation, indices: list[str]) -> str:
        return f"return {self.value(node.args[0].name, indices[::-1])};"

    _t_copy = _t

    def _reshaped(self, node: Operation, indices: list[str]) -> str:
        """Write the element at the same place in row-major order, without extents of one where that is enough."""
        source = self._graph.shape_of(node.args[0].name)
        mine = [(i, s) for i, s in zip(indices, node.shape, strict=True) if s != 1]
        if [s for _, s in mine] == [s for s in source if s != 1]:
            left = iter([i for i, _ in mine])
            return f"return {self.value(node.args[0].name, ['0' if s == 1 else next(left) for s in source])};"
        flat = "0"
        for index, size in zip(indices, node.shape, strict=True):
            flat = f"({flat} * {c_expression(size)} + {index})" if flat != "0" else index
        return self._flat(node, flat)

    def _as_strided(self, node: Operation, indices: list[str]) -> str:
        strides, start = node.args[2], (*node.args, None)[3]
        steps = [f"{number(s, 'i64')} * {i}" for s, i in zip(strides, indices, strict=True)]
        return self._flat(node, " + ".join([number(start or 0, "i64"), *steps]))

    _as_strided_copy = _as_strided

    def _flat(self, node: Operation, flat: str) -> str:
        """Write the element of the operand at a place in row-major order."""
        source = self._graph.shape_of(node.args[0].name)
        names, lines = [f"j{k}" for k in range(len(source))], [f"Index n = {flat};"]
        for name, size in list(zip(names, source, strict=True))[:0:-1]:
            lines.append(f"const Index {name} = n % {c_expression(size)}; n /= {c_expression(size)};")
        if names:
            lines.append("const Index j0 = n;")
        return "\n    ".join([*lines, f"return {self.value(node.args[0].name, names)};"])

    def _slice(self, node: Operation, indices: list[str]) -> str:
        x, axis, start, _, step = (*node.args, *(None,) * 5)[:5]
        operand_indices, axis = list(indices), (axis or 0) % len(indices)
        if isinstance(start, int) and start < 0:
            start = f"({c_expression(self._graph.shape_of(x.name)[axis])} - {-start})"
        first = start if isinstance(start, str) else number(start or 0, "i64")
        operand_indices[axis] = f"{first} + {number(step or 1, 'i64')} * {operand_indices[axis]}"
        return f"return {self.value(x.name, operand_indices)};"

    _slice_copy = _slice

    def _select(self, node: Operation, indices: list[str]) -> str:
        x, axis, index = node.args
        shape = self._graph.shape_of(x.name)
        axis %= len(shape)
        text = number(index, "i64")
        if isinstance(index, int) and index < 0:
            text = f"{c_expression(shape[axis])} - {-index}"
        return f"return {self.value(x.name, [*indices[:axis], text, *indices[axis:]])};"

    _select_copy = _select

    def _flip(self, node: Operation, indices: list[str]) -> str:
        axes = [axis % len(indices) for axis in node.args[1]]
        operand_indices = [
            f"{c_expression(s)} - 1 - {i}" if k in axes else i
            for k, (i, s) in enumerate(zip(indices, node.shape, strict=True))
        ]
        return f"return {self.value(node.args[0].name, operand_indices)};"

    def _cat(self, node: Operation, indices: list[str]) -> str:
        axis = (node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)) % len(indices)
        lines, before = [], "0"
        for part in node.args[0]:
            size = c_expression(self._graph.shape_of(part.name)[axis])
            operand_indices = [f"{i} - ({before})" if k == axis else i for k, i in enumerate(indices)]
            lines.append(f"if ({indices[axis]} < {before} + {size}) return {self.value(part.name, operand_indices)};")
            before = f"{before} + {size}"
        return "\n    ".join([*lines, "return 0;"])

    def _constant_pad_nd(self, node: Operation, indices: list[str]) -> str:
        x, pads, value = (*node.args, 0)[:3]
        shape, operand_indices, tests = self._graph.shape_of(x.name), list(indices), []
        for pair in range(len(pads) // 2):
            axis = len(indices) - 1 - pair
            operand_indices[axis] = f"{indices[axis]} - {number(pads[2 * pair], 'i64')}"
            tests.append(f"{operand_indices[axis]} >= 0 && {operand_indices[axis]} < {c_expression(shape[axis])}")
        return f"return {' && '.join(tests)} ? {self.value(x.name, operand_indices)} : {number(value, node.dtype)};"

    def _gather(self, node: Operation, indices: list[str]) -> str:
        x, axis, index = node.args[:3]
        operand_indices = list(indices)
        operand_indices[axis % len(indices)] = self.value(index.name, indices)
        return f"return {self.value(x.name, operand_indices)};"

    def _repeat(self, node: Operation, indices: list[str]) -> str:
        shape = self._graph.shape_of(node.args[0].name)
        operand_indices = [
            f"{i} % {c_expression(s)}" for s, i in zip(shape, indices[len(indices) - len(shape) :], strict=True)
        ]
        return f"return {self.value(node.args[0].name, operand_indices)};"

    def _index_select(self, node: Operation, indices: list[str]) -> str:
        x, axis, index = node.args[:3]
        operand_indices = list(indices)
        operand_indices[axis % len(indices)] = self.value(index.name, [indices[axis % len(indices)]])
        return f"return {self.value(x.name, operand_indices)};"

    def _index(self, node: Operation, indices: list[str]) -> str:
        """Write the element at places that other values hold; places below zero count from the end."""
        x, positions = node.args[:2]
        shape, axes = self._graph.shape_of(x.name), [k for k, p in enumerate(positions) if p is not None]
        if axes != list(range(axes[0], axes[-1] + 1)):
            raise ImportRefused("an index of axes that are apart has no naive kernel yet")
        rank = max(len(self._graph.shape_of(positions[k].name)) for k in axes)
        first = axes[0]
        middle = Operation("", "", (), {}, node.shape[first : first + rank], "")
        lines, operand_indices = [], [*indices[:first], *(f"p{k}" for k in axes), *indices[first + rank :]]
        for k in axes:
            lines.append(f"Index p{k} = {self.operand(positions[k], middle, indices[first : first + rank])};")
            lines.append(f"if (p{k} < 0) p{k} += {c_expression(shape[k])};")
        return "\n    ".join([*lines, f"return {self.value(x.name, operand_indices)};"])

    def _embedding(self, node: Operation, indices: list[str]) -> str:
        return f"return {self.value(node.args[0].name, [self.value(node.args[1].name, indices[:-1]), indices[-1]])};"

    def _tril(self, node: Operation, indices: list[str]) -> str:
        return self._triangle(node, indices, "<=")

    def _triu(self, node: Operation, indices: list[str]) -> str:
        return self._triangle(node, indices, ">=")

    def _triangle(self, node: Operation, indices: list[str], relation: str) -> str:
        shift = number(node.args[1] if len(node.args) > 1 else 0, "i64")
        return (
            f"return {indices[-1]} - {indices[-2]} {relation} {shift} ? {self.value(node.args[0].name, indices)} : 0;"
        )
