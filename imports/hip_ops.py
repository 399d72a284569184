"""ATen operations as device functions of the indices of one element, for a naive kernel."""

from __future__ import annotations

from collections.abc import Callable

from imports.graph import Graph, Operation, Ref, refs, users
from imports.hip_reductions import HipReductions
from imports.hip_scatters import HipScatters
from imports.hip_values import C_TYPES, number
from imports.hip_views import HipViews
from imports.node_arguments import plain
from imports.numpy_ops import SAME, SAME_SHAPE_VIEWS
from imports.refusal import ImportRefused

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>",
    "logical_and": "&&",
    "logical_or": "||",
}
CALLS = {
    "exp": "expf",
    "log": "logf",
    "log1p": "log1pf",
    "expm1": "expm1f",
    "sqrt": "sqrtf",
    "tanh": "tanhf",
    "sin": "sinf",
    "cos": "cosf",
    "erf": "erff",
    "abs": "fabsf",
    "floor": "floorf",
    "ceil": "ceilf",
    "round": "rintf",
    "trunc": "truncf",
    "log10": "log10f",
    "tan": "tanf",
    "atan": "atanf",
    "sinh": "sinhf",
    "cosh": "coshf",
    "atan2": "atan2f",
    "isinf": "isinf",
    "remainder": "remainder_of",
    "maximum": "fmaxf",
    "minimum": "fminf",
    "fmod": "fmodf",
    "rsqrt": "1.0f / sqrtf",
    "reciprocal": "1.0f / ",
    "isnan": "isnan",
    "log2": "log2f",
    "sign": "sign_of",
    "sigmoid": "sigmoid_of",
    "relu": "relu_of",
    "square": "square_of",
    "neg": "-",
    "logical_not": "!",
    "bitwise_not": "!",
}
STORED = (
    *(
        "sum",
        "mean",
        "amax",
        "amin",
        "var",
        "prod",
        "any",
        "all",
        "argmax",
        "argmin",
        "max",
        "min",
        "linalg_vector_norm",
    ),
    *("mm", "bmm", "convolution", "cumsum", "cumprod"),
    *("index_put", "scatter", "scatter_add", "bincount"),
    *("max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d"),
)
EXTREMES = ("amax", "amin")
WHOLE = {"maximum": "larger_of", "minimum": "smaller_of", "relu": "larger_of"}  # of whole numbers: no float holds all
ROOTS = {0.5: "sqrtf", -0.5: "1.0f / sqrtf", -1: "1.0f / ", 1: ""}
MOST_FACTORS = 8  # of a power
MOST_INLINE = 96  # operations that an element may take again for each use of it


class HipWriter(HipViews, HipScatters, HipReductions):
    """Functions for the nodes of a graph: `stored` ones have a kernel and a workspace of their own."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.stored = self._stored()

    def _stored(self) -> list[str]:
        count, sizes, stored = users(self._graph), dict[str, int](), []
        compared = {n.args[0].name for n in self._graph.nodes if plain(n.op) in EXTREMES and count[n.args[0].name] > 1}
        for node in self._graph.nodes:
            name = plain(node.op)
            parts = [sizes.get(r, 1) for r in refs([*node.args, *node.kwargs.values()])]
            sizes[node.name] = 1 + sum(parts)
            if (
                (name in STORED and node.dtype and not (name in ("max", "min") and len(node.args) > 1))
                or name == "getitem"
                or (node.name in compared and node.dtype)  # or what is taken off it is not the largest, to the last bit
                or (sizes[node.name] * count.get(node.name, 1) > MOST_INLINE and count.get(node.name, 1) > 1)
            ):
                stored.append(node.name)
            if stored and stored[-1] == node.name:
                sizes[node.name] = 1
        return stored

    def body(self, node: Operation, indices: list[str] | None = None) -> str:
        """Statements that return the element at i0, i1, ..., or others; ImportRefused where there are none yet."""
        name = plain(node.op)
        indices = [f"i{k}" for k in range(len(node.shape))] if indices is None else indices
        special: Callable[[Operation, list[str]], str] | None = getattr(self, f"_{name.strip('_')}", None)
        if special is not None:
            return special(node, indices)
        if name in SAME_SHAPE_VIEWS:
            return self._reshaped(node, indices)
        if name in SAME or name in ("expand", "expand_copy"):
            return f"return {self.operand(node.args[0], node, indices)};"
        if name in INFIX:
            return self._infix(name, node, indices)
        if name in CALLS:
            values = [self.operand(v, node, indices) for v in node.args[:2]]
            if node.dtype[0] in "iu" and name == "abs":
                return f"return {values[0]} < 0 ? -{values[0]} : {values[0]};"
            if node.dtype[0] in "iu" and name in WHOLE:
                return f"return {WHOLE[name]}({', '.join([*values, '0'][:2])});"
            return f"return {CALLS[name]}({', '.join(values)});"
        raise ImportRefused(f"the operation {node.op} has no naive kernel yet")

    def _infix(self, name: str, node: Operation, indices: list[str]) -> str:
        left, right = (self.operand(v, node, indices) for v in node.args[:2])
        if rounding := node.kwargs.get("rounding_mode"):
            return self._rounded(str(rounding), node.dtype[0] in "iu", left, right)
        alpha = node.kwargs.get("alpha", 1)
        right = right if alpha == 1 else f"{number(alpha, node.dtype)} * {right}"
        is_whole = name == "div" and all(
            isinstance(v, Ref) and self._graph.dtype_of(v.name)[0] in "iub" for v in node.args[:2]
        )
        return f"return {'(float)' if is_whole else ''}{left} {INFIX[name]} {right};"

    @staticmethod
    def _rounded(rounding: str, is_whole: bool, left: str, right: str) -> str:
        if not is_whole:
            return f"return {rounding}f({left} / {right});"
        lines = [f"const long long a = {left}, b = {right};"]
        less = " - (a % b != 0 && (a < 0) != (b < 0))" if rounding == "floor" else ""
        return "\n    ".join([*lines, f"return a / b{less};"])

    def _pow(self, node: Operation, indices: list[str]) -> str:
        """Write whole powers as products and square roots as such: no power function is as fast or as exact."""
        value, power = self.operand(node.args[0], node, indices), node.args[1]
        if isinstance(power, (int, float)) and node.dtype[0] in "fb":
            if power in ROOTS:
                return f"return {ROOTS[power]}({value});"
            if power == int(power) and 2 <= abs(power) <= MOST_FACTORS:
                product = f"{'square_of' if abs(power) == 2 else f'power_of<{int(abs(power))}>'}({value})"
                return f"return {'1.0f / ' if power < 0 else ''}{product};"
        return f"return powf({value}, {self.operand(power, node, indices)});"

    def _copy(self, node: Operation, indices: list[str]) -> str:
        return f"return {self.operand(node.args[1], node, indices)};"

    def _rsub(self, node: Operation, indices: list[str]) -> str:
        return f"return {self.operand(node.args[1], node, indices)} - {self.operand(node.args[0], node, indices)};"

    def _clamp(self, node: Operation, indices: list[str]) -> str:
        low = node.kwargs.get("min", node.args[1] if len(node.args) > 1 else None)
        high = node.kwargs.get("max", node.args[2] if len(node.args) > 2 else None)
        most, least = ("larger_of", "smaller_of") if node.dtype[0] in "iu" else ("fmaxf", "fminf")
        clamped = self.operand(node.args[0], node, indices)
        clamped = clamped if low is None else f"{most}({clamped}, {self.operand(low, node, indices)})"
        return f"return {clamped if high is None else f'{least}({clamped}, {self.operand(high, node, indices)})'};"

    _clamp_min = _clamp

    def _where(self, node: Operation, indices: list[str]) -> str:
        test, yes, no = (self.operand(v, node, indices) for v in node.args)
        return f"return {test} ? {yes} : {no};"

    def _scalar_tensor(self, node: Operation, indices: list[str]) -> str:
        return f"return {number(node.args[0], node.dtype)};"

    def _constant(self, node: Operation, indices: list[str]) -> str:
        values, flat = [node.args[0]], "0"
        for index, size in zip(indices, node.shape, strict=True):
            values = [v for part in values for v in part]
            flat = index if flat == "0" else f"({flat}) * {size} + {index}"
        listed = ", ".join(number(v, node.dtype) for v in values)
        return f"const {C_TYPES[node.dtype]} values[] = {{{listed}}};\n    return values[{flat}];"

    def _full(self, node: Operation, indices: list[str]) -> str:
        return f"return {number(node.args[1], node.dtype)};"

    _full_like = _full

    def _zeros(self, node: Operation, indices: list[str]) -> str:
        return "return 0;"

    _zeros_like = _zeros
    _empty = _empty_permuted = _empty_strided = _new_empty = _new_empty_strided = _empty_like = _zeros

    def _ones(self, node: Operation, indices: list[str]) -> str:
        return "return 1;"

    _ones_like = _ones

    def _iota(self, node: Operation, indices: list[str]) -> str:
        start, step = (number(node.kwargs.get(n, d), "i64") for n, d in (("start", 0), ("step", 1)))
        return f"return {start} + {step} * {indices[0]};"

    def _arange(self, node: Operation, indices: list[str]) -> str:
        args = [number(v, "i64") for v in node.args]
        start, step = (args[0] if len(args) > 1 else "0"), (args[2] if len(args) > 2 else "1")
        return f"return {start} + {step} * {indices[0]};"

    def _to_copy(self, node: Operation, indices: list[str]) -> str:
        return f"return ({C_TYPES[node.dtype]}){self.operand(node.args[0], node, indices)};"

    _convert_element_type = _to_copy
