"""Reductions, products, convolutions and pools as device functions of one element."""

from __future__ import annotations

from imports.graph import Number, Operation, Ref
from imports.hip_values import C_TYPES, HipValues, c_expression, number, place_in
from imports.node_arguments import (
    correction_of,
    keeps,
    order_arguments,
    plain,
    pool_arguments,
    pool_options,
    reduced_axes,
)
from imports.refusal import ImportRefused

SCANS = {"cumsum": ("0", "+="), "cumprod": ("1", "*=")}  # the first value and the step; one thread takes a row


class HipReductions(HipValues):
    """Bodies of functions that go over many elements of an operand."""

    def _reduced(
        self,
        node: Operation,
        indices: list[str],
        start: str,
        step: str,
        end: str,
        wide: str = "double",
        name: str = "sum",
    ) -> str:
        """Write a loop over the reduced axes."""
        x = node.args[0].name
        shape = self._graph.shape_of(x)
        axes = reduced_axes(node, len(shape))
        operand_indices, loops, left = [], [], iter(indices)
        for axis, size in enumerate(shape):
            if axis in axes:
                operand_indices.append(f"r{axis}")
                loops.append(f"for (Index r{axis} = 0; r{axis} < {c_expression(size)}; ++r{axis})")
                if keeps(node):
                    next(left)
            else:
                operand_indices.append(next(left))
        lines = [f"{wide} {name} = {start};", *loops, f"    {step.replace('X', self.value(x, operand_indices))}"]
        return "\n    ".join([*lines, *([f"return {end};"] if end else [])])

    def _count(self, node: Operation) -> str:
        shape = self._graph.shape_of(node.args[0].name)
        return " * ".join(["1LL", *(c_expression(shape[axis]) for axis in reduced_axes(node, len(shape)))])

    def _sum(self, node: Operation, indices: list[str]) -> str:
        return self._reduced(node, indices, "0", "sum += X;", "sum", "double" if node.dtype[0] in "fb" else "long long")

    def _mean(self, node: Operation, indices: list[str]) -> str:
        return self._reduced(node, indices, "0", "sum += X;", f"sum / (double)({self._count(node)})")

    def _prod(self, node: Operation, indices: list[str]) -> str:
        return self._reduced(node, indices, "1", "sum *= X;", "sum")

    def _any(self, node: Operation, indices: list[str]) -> str:
        return self._reduced(node, indices, "false", "sum = sum || X;", "sum", "bool")

    def _all(self, node: Operation, indices: list[str]) -> str:
        return self._reduced(node, indices, "true", "sum = sum && X;", "sum", "bool")

    def _amax(self, node: Operation, indices: list[str]) -> str:
        if node.dtype[0] in "iu":
            return self._reduced(
                node, indices, "-__LONG_LONG_MAX__ - 1", "sum = larger_of(sum, X);", "sum", "long long"
            )
        return self._reduced(node, indices, "-__builtin_huge_valf()", "sum = fmaxf(sum, X);", "sum", "float")

    def _amin(self, node: Operation, indices: list[str]) -> str:
        if node.dtype[0] in "iu":
            return self._reduced(node, indices, "__LONG_LONG_MAX__", "sum = smaller_of(sum, X);", "sum", "long long")
        return self._reduced(node, indices, "__builtin_huge_valf()", "sum = fminf(sum, X);", "sum", "float")

    _max, _min = _amax, _amin  # of all elements

    def _bincount(self, node: Operation, indices: list[str]) -> str:
        over_all = Operation(node.name, "", node.args[:1], {}, (), node.dtype)
        return self._reduced(over_all, [], "0", f"sum += X == {indices[0]};", "sum", "long long")

    def _linalg_vector_norm(self, node: Operation, indices: list[str]) -> str:
        power = node.args[1] if len(node.args) > 1 else 2
        step = "{ const double x = X; sum += x * x; }" if power == 2 else "sum += fabs((double)X);"
        end = "sqrt(sum)" if power == 2 else "sum"
        return self._reduced(_normed(node), indices, "0", step, end)

    def _var(self, node: Operation, indices: list[str]) -> str:
        mean = self._reduced(node, indices, "0", "total += X;", "", name="total")
        count = f"(double)({self._count(node)})"
        step = f"{{ const double x = X - total / {count}; sum += x * x; }}"
        end = f"sum / ({count} - {number(correction_of(node), 'i64')})"
        squares = self._reduced(node, indices, "0", step, end)
        return f"{mean}\n    {squares}"

    def _argmax(self, node: Operation, indices: list[str]) -> str:
        return self._arg(node, indices, ">")

    def _argmin(self, node: Operation, indices: list[str]) -> str:
        return self._arg(node, indices, "<")

    def _arg(self, node: Operation, indices: list[str], relation: str, x: str = "") -> str:
        x = node.args[0].name
        shape = self._graph.shape_of(x)
        axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
        if axis is None:
            raise ImportRefused("the place of the largest of all elements has no naive kernel yet")
        axis %= len(shape)
        keep, kind = len(node.shape) == len(shape), C_TYPES[self._graph.dtype_of(x)]
        outer_indices = [i for k, i in enumerate(indices) if not (keep and k == axis)]
        element_indices = [*outer_indices[:axis], "r", *outer_indices[axis:]]
        first_indices = [*outer_indices[:axis], "0", *outer_indices[axis:]]
        return "\n    ".join(
            [
                f"{kind} best = {self.value(x, first_indices)};",
                "Index place = 0;",
                f"for (Index r = 1; r < {c_expression(shape[axis])}; ++r) {{",
                f"    const {kind} x = {self.value(x, element_indices)};",
                f"    if (x {relation} best) {{ best = x; place = r; }}",
                "}",
                "return place;",
            ]
        )

    def _getitem(self, node: Operation, indices: list[str]) -> str:
        source = self._nodes[node.args[0].name]
        name = plain(source.op)
        if name.startswith("max_pool") and node.args[1] == 0:
            return self._pool(source, indices, len(node.shape), "-__builtin_huge_valf()", "sum = fmaxf(sum, X);", "sum")
        if name in ("max", "min"):
            keep = bool(source.args[2]) if len(source.args) > 2 else False
            reduction = Operation(
                node.name, f"aten.a{name}.default", (source.args[0], [source.args[1]], keep), {}, node.shape, node.dtype
            )
            if node.args[1] == 0:
                return self._amax(reduction, indices) if name == "max" else self._amin(reduction, indices)
            return self._arg(
                Operation(node.name, "", source.args, {}, node.shape, node.dtype),
                indices,
                ">" if name == "max" else "<",
            )
        if name in ("sort", "topk"):
            return self._ordered(source, indices, len(node.shape), is_place=node.args[1] == 1)
        raise ImportRefused(f"a part of {source.op} has no naive kernel yet")

    def _ordered(self, source: Operation, indices: list[str], rank: int, is_place: bool) -> str:
        """Write the element that as many others come before as its place says; of equal ones the first is before."""
        x, axis, descending, _ = order_arguments(source)
        axis %= rank
        element_indices, rival_indices = ([*indices[:axis], name, *indices[axis + 1 :]] for name in ("r", "k"))
        size, kind = c_expression(self._graph.shape_of(x.name)[axis]), C_TYPES[self._graph.dtype_of(x.name)]
        return "\n    ".join(
            [
                f"for (Index r = 0; r < {size}; ++r) {{",
                f"    const {kind} x = {self.value(x.name, element_indices)};",
                "    Index before = 0;",
                f"    for (Index k = 0; k < {size}; ++k) {{",
                f"        const {kind} y = {self.value(x.name, rival_indices)};",
                f"        before += y {'>' if descending else '<'} x || (y == x && k < r);",
                "    }",
                f"    if (before == {indices[axis]}) return {'r' if is_place else 'x'};",
                "}",
                "return 0;",
            ]
        )

    def _avg_pool2d(self, node: Operation, indices: list[str]) -> str:
        _, with_padding, divisor = pool_options(node)
        kernel = pool_arguments(node)[1]
        count = str(divisor) if divisor else " * ".join(map(str, kernel)) if with_padding else "count"
        return self._pool(node, indices, len(node.shape), "0", "{ sum += X; ++count; }", f"sum / ({count})")

    _avg_pool3d = _avg_pool1d = _avg_pool2d

    def _pool(self, node: Operation, indices: list[str], rank: int, start: str, step: str, end: str) -> str:
        x, kernel, stride, pad, dilation = pool_arguments(node)
        shape, operand_indices, lines, tests = (
            self._graph.shape_of(x.name),
            list(indices),
            [f"double sum = {start};", "long long count = 0;"],
            [],
        )
        for k in range(len(kernel)):
            axis = rank - len(kernel) + k
            lines.append(f"for (int r{k} = 0; r{k} < {kernel[k]}; ++r{k}) {{")
            lines.append(f"    const Index p{k} = i{axis} * {stride[k]} + r{k} * {dilation[k]} - {pad[k]};")
            tests.append(f"p{k} >= 0 && p{k} < {c_expression(shape[axis])}")
            operand_indices[axis] = f"p{k}"
        lines.append(f"    if ({' && '.join(tests)}) {step.replace('X', self.value(x.name, operand_indices))}")
        return "\n    ".join([*lines, "}" * len(kernel), f"return {end};"])

    def scan_rows(self, node: Operation, buffer: str) -> tuple[int, list[str]]:
        """Write one row of a running sum or product: its axis and its statements, each element once."""
        indices = [f"i{k}" for k in range(len(node.shape))]
        if not indices:
            raise ImportRefused("a running sum of a single number has no naive kernel")
        axis = node.args[1] % len(indices)
        start, step = SCANS[plain(node.op)]
        indices[axis] = "r"
        return axis, [
            f"{'double' if node.dtype[0] in 'fb' else 'long long'} sum = {start};",
            f"for (Index r = 0; r < {c_expression(node.shape[axis])}; ++r) {{",
            f"    sum {step} {self.value(node.args[0].name, indices)};",
            f"    {buffer}[{place_in(node.shape, indices)}] = sum;",
            "}",
        ]

    def _mm(self, node: Operation, indices: list[str]) -> str:
        left, right = node.args[0].name, node.args[1].name
        inner = c_expression(self._graph.shape_of(left)[-1])
        left_element, right_element = (
            self.value(left, [*indices[:-1], "r"]),
            self.value(right, [*indices[:-2], "r", indices[-1]]),
        )
        loop = f"for (Index r = 0; r < {inner}; ++r) sum += (double){left_element} * {right_element};"
        return f"double sum = 0;\n    {loop}\n    return sum;"

    _bmm = _mm

    def _convolution(self, node: Operation, indices: list[str]) -> str:
        x, w, b, stride, pad, dilation, is_transposed, _, groups = node.args
        if any(isinstance(v, Number) for v in (*stride, *pad, *dilation)):
            raise ImportRefused("a convolution whose steps follow from the sizes has no naive kernel yet")
        rank, groups = len(stride), number(groups, "i64")
        stride, pad, dilation = ((list(v) * rank)[:rank] for v in (stride, pad, dilation))
        kernel, sizes = self._graph.shape_of(w.name)[2:], self._graph.shape_of(x.name)
        lines = [f"double sum = {self.value(b.name, ['i1']) if isinstance(b, Ref) else '0'};"]
        each_in = f"({c_expression(sizes[1])} / {groups})"
        each_out = (
            c_expression(self._graph.shape_of(w.name)[1])
            if is_transposed
            else f"({c_expression(node.shape[1])} / {groups})"
        )
        lines.append(f"for (Index c = 0; c < {each_in}; ++c)")
        for k in range(rank):
            lines.append(f"for (Index r{k} = 0; r{k} < {c_expression(kernel[k])}; ++r{k}) {{")
            if is_transposed:
                lines.append(f"    const Index q{k} = i{k + 2} + {pad[k]} - r{k} * {dilation[k]};")
                lines.append(f"    if (q{k} < 0 || q{k} % {stride[k]}) continue;")
                lines.append(f"    const Index p{k} = q{k} / {stride[k]};")
                lines.append(f"    if (p{k} >= {c_expression(sizes[k + 2])}) continue;")
            else:
                lines.append(f"    const Index p{k} = i{k + 2} * {stride[k]} + r{k} * {dilation[k]} - {pad[k]};")
                lines.append(f"    if (p{k} < 0 || p{k} >= {c_expression(sizes[k + 2])}) continue;")
        channel = f"i1 / {each_out} * {each_in} + c"
        positions, taps = [f"p{k}" for k in range(rank)], [f"r{k}" for k in range(rank)]
        weight_indices = [channel, f"i1 % {each_out}", *taps] if is_transposed else ["i1", "c", *taps]
        element, weight = self.value(x.name, ["i0", channel, *positions]), self.value(w.name, weight_indices)
        lines.append(f"    sum += (double){element} * {weight};")
        return "\n    ".join([*lines, "}" * rank, "return sum;"])


def _normed(node: Operation) -> Operation:
    """Write a norm as a sum over the same axes."""
    keep = bool(node.args[3]) if len(node.args) > 3 else False
    axes = node.args[2] if len(node.args) > 2 else None
    return Operation(node.name, "aten.sum.dim_IntList", (node.args[0], axes, keep), {}, node.shape, node.dtype)
