"""Views, moved and ordered elements in NumPy: one expression each."""

from __future__ import annotations

from imports.graph import Operation
from imports.node_arguments import order_arguments, refuse_counted, tuple_of
from imports.numpy_reductions import NumpyReductions
from imports.refusal import RECORDS, ImportRefused


class NumpyViews(NumpyReductions):
    """Expressions that take elements of an operand from other places."""

    def _expand(self, node: Operation) -> str:
        return f"np.broadcast_to({self.text(node.args[0])}, {self.shape(node)})"

    _expand_copy = _expand

    def _broadcast_in_dim(self, node: Operation) -> str:
        source = self._graph.shape_of(node.args[0].name)
        extents = ["1"] * len(node.shape)
        for axis, to in enumerate(node.args[2]):
            extents[to] = str(source[axis])
        return f"np.broadcast_to({self.text(node.args[0])}.reshape({tuple_of(extents)}), {self.shape(node)})"

    def _as_strided(self, node: Operation) -> str:
        x, _, strides, start = (*node.args, None)[:4]
        self._helper("strided")
        return f"strided({self.text(x)}, {self.shape(node)}, {self.text(strides)}, {self.text(start or 0)})"

    _as_strided_copy = _as_strided

    def _permute(self, node: Operation) -> str:
        return f"{self.text(node.args[0])}.transpose({self.text(node.args[1])})"

    _permute_copy = _permute

    def _transpose(self, node: Operation) -> str:
        if node.op.startswith("prims"):
            return self._permute(node)
        return f"np.swapaxes({', '.join(self.text(v) for v in node.args)})"

    _transpose_copy = _transpose

    def _t(self, node: Operation) -> str:
        return f"{self.text(node.args[0])}.T"

    _t_copy = _t

    def _slice(self, node: Operation) -> str:
        x, axis, start, end, step = (*node.args, *(None,) * 5)[:5]
        if isinstance(end, int) and end > 1 << 60:
            end = None
        parts = [self.text(v) if v is not None else "" for v in (start, end)]
        cut = f"{parts[0]}:{parts[1]}" + (f":{self.text(step)}" if step not in (None, 1) else "")
        axis = (axis or 0) % len(node.shape)
        return f"{self.text(x)}[{', '.join([':'] * axis + [cut])}]"

    _slice_copy = _slice

    def _select(self, node: Operation) -> str:
        x, axis, index = node.args
        return f"np.take({self.text(x)}, {self.text(index)}, axis={axis})"

    _select_copy = _select

    def _cat(self, node: Operation) -> str:
        axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
        return f"np.concatenate({self.text(node.args[0])}, axis={axis})"

    def _stack(self, node: Operation) -> str:
        return f"np.stack({self.text(node.args[0])}, axis={node.args[1] if len(node.args) > 1 else 0})"

    def _flip(self, node: Operation) -> str:
        return f"np.flip({self.text(node.args[0])}, {tuple(node.args[1])})"

    def _repeat(self, node: Operation) -> str:
        return f"np.tile({self.text(node.args[0])}, {self.text(node.args[1])})"

    def _constant_pad_nd(self, node: Operation) -> str:
        x, pads, value = (*node.args, 0)[:3]
        rank = len(node.shape)
        pairs = [[pads[2 * i], pads[2 * i + 1]] for i in range(len(pads) // 2)][::-1]
        pairs = [[0, 0]] * (rank - len(pairs)) + pairs
        return f"np.pad({self.text(x)}, {self.text(pairs)}, constant_values={self.text(value)})"

    def _gather(self, node: Operation) -> str:
        x, axis, index = node.args[:3]
        return f"np.take_along_axis({self.text(x)}, {self.text(index)}, axis={axis})"

    def _embedding(self, node: Operation) -> str:
        return f"{self.text(node.args[0])}[{self.text(node.args[1])}]"

    def _index_select(self, node: Operation) -> str:
        return f"np.take({self.text(node.args[0])}, {self.text(node.args[2])}, axis={node.args[1]})"

    def _index(self, node: Operation) -> str:
        refuse_counted(self._graph, node)
        indices = [":" if i is None else self.text(i) for i in node.args[1]]
        return f"{self.text(node.args[0])}[{', '.join(indices)}]"

    def _index_put(self, node: Operation) -> str:
        x, positions, values, adds = (*node.args, False)[:4]
        refuse_counted(self._graph, node)
        index = ", ".join("slice(None)" if i is None else self.text(i) for i in positions)
        self._helper("put_at")
        return f"put_at({self.text(x)}, ({index},), {self.text(values)}, {bool(adds)})"

    def _scatter(self, node: Operation) -> str:
        x, axis, index, source = node.args[:4]
        if node.kwargs.get("reduce"):
            raise ImportRefused(f"a scatter with reduce has no translation to NumPy yet; {RECORDS}")
        self._helper("scattered")
        return f"scattered({self.text(x)}, {axis}, {self.text(index)}, {self.text(source)})"

    def _slice_scatter(self, node: Operation) -> str:
        x, source, axis, start, end, step = (*node.args, *(None,) * 6)[:6]
        bounds = [node.kwargs.get(n, v) for n, v in (("dim", axis), ("start", start), ("end", end), ("step", step))]
        self._helper("put_at")
        first, last = (None if isinstance(v, int) and v > 1 << 60 else v for v in bounds[1:3])
        cut = f"slice({self.text(first)}, {self.text(last)}, {self.text(bounds[3] or 1)})"
        index = ", ".join([*["slice(None)"] * ((bounds[0] or 0) % len(node.shape)), cut])
        return f"put_at({self.text(x)}, ({index},), {self.text(source)}, False)"

    def _select_scatter(self, node: Operation) -> str:
        x, source, axis, index = node.args[:4]
        self._helper("put_at")
        index_text = ", ".join([*["slice(None)"] * (axis % len(node.shape)), self.text(index)])
        return f"put_at({self.text(x)}, ({index_text},), {self.text(source)}, False)"

    def _scatter_add(self, node: Operation) -> str:
        x, axis, index, source = node.args[:4]
        self._helper("scattered_sum")
        return f"scattered_sum({self.text(x)}, {axis}, {self.text(index)}, {self.text(source)})"

    def _topk(self, node: Operation) -> str:
        x, axis, descending, count = order_arguments(node)
        self._helper("in_order")
        return f"in_order({self.text(x)}, {axis}, {descending}, {self.text(count)})"

    _sort = _topk

    def _view_as_complex(self, node: Operation) -> str:
        x = self.text(node.args[0])
        return f"{x}[..., 0] + 1j * {x}[..., 1]"

    def _view_as_real(self, node: Operation) -> str:
        x = self.text(node.args[0])
        return f"np.stack([{x}.real, {x}.imag], axis=-1)"

    _view_as_complex_copy, _view_as_real_copy = _view_as_complex, _view_as_real

    def _complex(self, node: Operation) -> str:
        return f"{self.text(node.args[0])} + 1j * {self.text(node.args[1])}"

    def _polar(self, node: Operation) -> str:
        size, angle = (self.text(v) for v in node.args)
        return f"{size} * (np.cos({angle}) + 1j * np.sin({angle}))"

    def _median(self, node: Operation) -> str:
        if len(node.args) < 2:
            raise ImportRefused(f"the operation {node.op} has no translation to NumPy yet; {RECORDS}")
        self._helper("lower_median")
        return f"lower_median({self.text(node.args[0])}, {node.args[1]}, {bool((*node.args, False)[2])})"

    def _round(self, node: Operation) -> str:
        return f"np.round({self.text(node.args[0])}, {self.text(node.kwargs.get('decimals', 0))})"

    def _tril(self, node: Operation) -> str:
        return f"np.tril({', '.join(self.text(v) for v in node.args)})"

    def _triu(self, node: Operation) -> str:
        return f"np.triu({', '.join(self.text(v) for v in node.args)})"
