"""Views and moved elements as device functions of one element."""

from __future__ import annotations

from imports.graph import Operation
from imports.hip_values import HipValues, c_expression, number
from imports.refusal import ImportRefused


class HipViews(HipValues):
    """Bodies of functions that take an element of an operand from another place."""

    def _broadcast_in_dim(self, node: Operation, at: list[str]) -> str:
        source = self._graph.shape_of(node.args[0].name)
        own = ["0" if s == 1 else at[to] for s, to in zip(source, node.args[2], strict=True)]
        return f"return {self.value(node.args[0].name, own)};"

    def _permute(self, node: Operation, at: list[str]) -> str:
        own = [""] * len(at)
        for axis, source in enumerate(node.args[1]):
            own[source % len(at)] = at[axis]
        return f"return {self.value(node.args[0].name, own)};"

    _permute_copy = _permute

    def _transpose(self, node: Operation, at: list[str]) -> str:
        if node.op.startswith("prims"):
            return self._permute(node, at)
        own, one, two = list(at), node.args[1] % len(at), node.args[2] % len(at)
        own[one], own[two] = own[two], own[one]
        return f"return {self.value(node.args[0].name, own)};"

    _transpose_copy = _transpose

    def _t(self, node: Operation, at: list[str]) -> str:
        return f"return {self.value(node.args[0].name, at[::-1])};"

    _t_copy = _t

    def _reshaped(self, node: Operation, at: list[str]) -> str:
        """Write the element at the same place in row-major order, without extents of one where that is enough."""
        source = self._graph.shape_of(node.args[0].name)
        mine = [(i, s) for i, s in zip(at, node.shape, strict=True) if s != 1]
        if [s for _, s in mine] == [s for s in source if s != 1]:
            left = iter([i for i, _ in mine])
            return f"return {self.value(node.args[0].name, ['0' if s == 1 else next(left) for s in source])};"
        flat = "0"
        for index, size in zip(at, node.shape, strict=True):
            flat = f"({flat} * {c_expression(size)} + {index})" if flat != "0" else index
        return self._flat(node, flat)

    def _as_strided(self, node: Operation, at: list[str]) -> str:
        strides, start = node.args[2], (*node.args, None)[3]
        steps = [f"{number(s, 'i64')} * {i}" for s, i in zip(strides, at, strict=True)]
        return self._flat(node, " + ".join([number(start or 0, "i64"), *steps]))

    _as_strided_copy = _as_strided

    def _flat(self, node: Operation, flat: str) -> str:
        """Write the element of the operand at a place in row-major order."""
        source = self._graph.shape_of(node.args[0].name)
        names, lines = [f"j{k}" for k in range(len(source))], [f"long long n = {flat};"]
        for name, size in list(zip(names, source, strict=True))[:0:-1]:
            lines.append(f"const long long {name} = n % {c_expression(size)}; n /= {c_expression(size)};")
        if names:
            lines.append("const long long j0 = n;")
        return "\n    ".join([*lines, f"return {self.value(node.args[0].name, names)};"])

    def _slice(self, node: Operation, at: list[str]) -> str:
        x, axis, start, _, step = (*node.args, *(None,) * 5)[:5]
        own, axis = list(at), (axis or 0) % len(at)
        if isinstance(start, int) and start < 0:
            start = f"({c_expression(self._graph.shape_of(x.name)[axis])} - {-start})"
        first = start if isinstance(start, str) else number(start or 0, "i64")
        own[axis] = f"{first} + {number(step or 1, 'i64')} * {own[axis]}"
        return f"return {self.value(x.name, own)};"

    _slice_copy = _slice

    def _select(self, node: Operation, at: list[str]) -> str:
        x, axis, index = node.args
        shape = self._graph.shape_of(x.name)
        axis %= len(shape)
        text = number(index, "i64")
        if isinstance(index, int) and index < 0:
            text = f"{c_expression(shape[axis])} - {-index}"
        return f"return {self.value(x.name, [*at[:axis], text, *at[axis:]])};"

    _select_copy = _select

    def _flip(self, node: Operation, at: list[str]) -> str:
        axes = [axis % len(at) for axis in node.args[1]]
        own = [
            f"{c_expression(s)} - 1 - {i}" if k in axes else i
            for k, (i, s) in enumerate(zip(at, node.shape, strict=True))
        ]
        return f"return {self.value(node.args[0].name, own)};"

    def _cat(self, node: Operation, at: list[str]) -> str:
        axis = (node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)) % len(at)
        lines, before = [], "0"
        for part in node.args[0]:
            size = c_expression(self._graph.shape_of(part.name)[axis])
            own = [f"{i} - ({before})" if k == axis else i for k, i in enumerate(at)]
            lines.append(f"if (i{axis} < {before} + {size}) return {self.value(part.name, own)};")
            before = f"{before} + {size}"
        return "\n    ".join([*lines, "return 0;"])

    def _constant_pad_nd(self, node: Operation, at: list[str]) -> str:
        x, pads, value = (*node.args, 0)[:3]
        shape, own, tests = self._graph.shape_of(x.name), list(at), []
        for pair in range(len(pads) // 2):
            axis = len(at) - 1 - pair
            own[axis] = f"i{axis} - {number(pads[2 * pair], 'i64')}"
            tests.append(f"{own[axis]} >= 0 && {own[axis]} < {c_expression(shape[axis])}")
        return f"return {' && '.join(tests)} ? {self.value(x.name, own)} : {number(value, node.dtype)};"

    def _gather(self, node: Operation, at: list[str]) -> str:
        x, axis, index = node.args[:3]
        own = list(at)
        own[axis % len(at)] = self.value(index.name, at)
        return f"return {self.value(x.name, own)};"

    def _repeat(self, node: Operation, at: list[str]) -> str:
        shape = self._graph.shape_of(node.args[0].name)
        own = [f"{i} % {c_expression(s)}" for s, i in zip(shape, at[len(at) - len(shape) :], strict=True)]
        return f"return {self.value(node.args[0].name, own)};"

    def _index_select(self, node: Operation, at: list[str]) -> str:
        x, axis, index = node.args[:3]
        own = list(at)
        own[axis % len(at)] = self.value(index.name, [at[axis % len(at)]])
        return f"return {self.value(x.name, own)};"

    def _index(self, node: Operation, at: list[str]) -> str:
        """Write the element at places that other values hold; places below zero count from the end."""
        x, places = node.args[:2]
        shape, taken = self._graph.shape_of(x.name), [k for k, p in enumerate(places) if p is not None]
        if taken != list(range(taken[0], taken[-1] + 1)):
            raise ImportRefused("an index of axes that are apart has no naive kernel yet")
        rank = max(len(self._graph.shape_of(places[k].name)) for k in taken)
        first = taken[0]
        middle = Operation("", "", (), {}, node.shape[first : first + rank], "")
        lines, own = [], [*at[:first], *(f"p{k}" for k in taken), *at[first + rank :]]
        for k in taken:
            lines.append(f"long long p{k} = {self.operand(places[k], middle, at[first : first + rank])};")
            lines.append(f"if (p{k} < 0) p{k} += {c_expression(shape[k])};")
        return "\n    ".join([*lines, f"return {self.value(x.name, own)};"])

    def _embedding(self, node: Operation, at: list[str]) -> str:
        return f"return {self.value(node.args[0].name, [self.value(node.args[1].name, at[:-1]), at[-1]])};"

    def _tril(self, node: Operation, at: list[str]) -> str:
        return self._triangle(node, at, "<=")

    def _triu(self, node: Operation, at: list[str]) -> str:
        return self._triangle(node, at, ">=")

    def _triangle(self, node: Operation, at: list[str], relation: str) -> str:
        shift = number(node.args[1] if len(node.args) > 1 else 0, "i64")
        return f"return {at[-1]} - {at[-2]} {relation} {shift} ? {self.value(node.args[0].name, at)} : 0;"
