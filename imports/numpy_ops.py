"""ATen operations in NumPy: one expression each, and the helpers that some of them need."""

from __future__ import annotations

from collections.abc import Callable

from imports.graph import Number, Operation, Ref
from imports.node_arguments import kind, plain
from imports.numpy_views import NumpyViews
from imports.refusal import RECORDS, ImportRefused

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
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
    "logical_and": "&",
    "logical_or": "|",
}
CALLS = {
    "exp": "np.exp",
    "log": "np.log",
    "log1p": "np.log1p",
    "log2": "np.log2",
    "log10": "np.log10",
    "expm1": "np.expm1",
    "sqrt": "np.sqrt",
    "tanh": "np.tanh",
    "sin": "np.sin",
    "cos": "np.cos",
    "tan": "np.tan",
    "atan": "np.arctan",
    "sinh": "np.sinh",
    "cosh": "np.cosh",
    "abs": "np.abs",
    "floor": "np.floor",
    "ceil": "np.ceil",
    "round": "np.round",
    "trunc": "np.trunc",
    "sign": "np.sign",
    "neg": "-",
    "isnan": "np.isnan",
    "isinf": "np.isinf",
    "logical_not": "~",
    "bitwise_not": "~",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
    "fmod": "np.fmod",
    "remainder": "np.mod",
    "atan2": "np.arctan2",
    "real": "np.real",
    "imag": "np.imag",
    "conj": "np.conj",
    "conj_physical": "np.conj",
    "erf": "error_function",
}
SAME_SHAPE_VIEWS = ("view", "_unsafe_view", "view_copy", "reshape", "squeeze", "unsqueeze")
SAME = ("clone", "detach", "detach_copy", "alias", "alias_copy", "contiguous", "lift_fresh_copy", "lift_fresh")


class NumpyWriter(NumpyViews):
    """Expressions for the nodes of one graph; `helpers` are those that they need."""

    def expression(self, node: Operation) -> str:
        """Write the node's value; ImportRefused for an operation that is not in the table."""
        name = plain(node.op)
        special: Callable[[Operation], str] | None = getattr(self, f"_{name.strip('_')}", None)
        if special is not None:
            return special(node)
        a = [self.text(v) for v in node.args]
        if name in SAME_SHAPE_VIEWS:
            return f"{a[0]}.reshape({self.shape(node)})"
        if name in SAME:
            return a[0]
        if name in INFIX:
            return self._infix(name, node, a)
        if name in CALLS:
            if name == "erf":
                self.helpers.add("error_function")
            call = CALLS[name]
            return f"{call}{a[0]}" if call in ("-", "~") else f"{call}({', '.join(a[:2])})"
        raise ImportRefused(f"the operation {node.op} has no translation to NumPy yet; {RECORDS}")

    def _infix(self, name: str, node: Operation, a: list[str]) -> str:
        alpha = node.kwargs.get("alpha", 1)
        if rounding := node.kwargs.get("rounding_mode"):
            expression = f"np.{rounding}({a[0]} / {a[1]})"
            return f"{expression}.astype({kind(node.dtype)})" if node.dtype[0] in "iu" else expression
        a[0] = f"({a[0]})" if a[0].startswith("-") else a[0]  # or it would bind less than a power
        right = a[1] if alpha == 1 else f"{self.text(alpha)} * {a[1]}"
        is_whole = all(isinstance(v, Ref) and self._graph.dtype_of(v.name)[0] in "iub" for v in node.args[:2])
        expression = f"{a[0]} {INFIX[name]} {right}"
        return f"({a[0]}).astype(kind) / {right}" if name == "div" and is_whole else expression

    def _copy(self, node: Operation) -> str:
        return f"np.broadcast_to({self.text(node.args[1])}, {self.shape(node)}).astype({kind(node.dtype)})"

    def _rsub(self, node: Operation) -> str:
        return f"{self.text(node.args[1])} - {self.text(node.args[0])}"

    def _rsqrt(self, node: Operation) -> str:
        return f"1 / np.sqrt({self.text(node.args[0])})"

    def _reciprocal(self, node: Operation) -> str:
        return f"1 / {self.text(node.args[0])}"

    def _square(self, node: Operation) -> str:
        x = self.text(node.args[0])
        return f"{x} * {x}"

    def _sigmoid(self, node: Operation) -> str:
        return f"1 / (1 + np.exp(-{self.text(node.args[0])}))"

    def _relu(self, node: Operation) -> str:
        return f"np.maximum({self.text(node.args[0])}, 0)"

    def _clamp(self, node: Operation) -> str:
        low = node.kwargs.get("min", node.args[1] if len(node.args) > 1 else None)
        high = node.kwargs.get("max", node.args[2] if len(node.args) > 2 else None)
        clamped = self.text(node.args[0])
        clamped = clamped if low is None else f"np.maximum({clamped}, {self.text(low)})"
        return clamped if high is None else f"np.minimum({clamped}, {self.text(high)})"

    _clip = _clamp

    def _clamp_min(self, node: Operation) -> str:
        return f"np.maximum({self.text(node.args[0])}, {self.text(node.args[1])})"

    def _where(self, node: Operation) -> str:
        return f"np.where({', '.join(self.text(v) for v in node.args)})"

    def _scalar_tensor(self, node: Operation) -> str:
        return f"np.asarray({self.text(node.args[0])}, {kind(node.dtype)})"

    def _constant(self, node: Operation) -> str:
        return f"np.asarray({node.args[0]!r}, {kind(node.dtype)})"

    def _bincount(self, node: Operation) -> str:
        options = {"weights": None, "minlength": 0} | dict(zip(("x", "weights", "minlength"), node.args, strict=False))
        options |= node.kwargs
        least = options["minlength"].text if isinstance(options["minlength"], Number) else options["minlength"]
        if node.shape != (least,) or options["weights"] is not None:
            raise ImportRefused(f"{node.op} has a translation to NumPy for all counts of minlength alone; {RECORDS}")
        return f"np.bincount({self.text(node.args[0])}.reshape(-1), minlength={least})"

    def _full(self, node: Operation) -> str:
        return f"np.full({self.shape(node)}, {self.text(node.args[1])}, {kind(node.dtype)})"

    _full_like = _full

    def _zeros(self, node: Operation) -> str:
        return f"np.zeros({self.shape(node)}, {kind(node.dtype)})"

    _zeros_like = _new_zeros = _zeros

    def _empty(self, node: Operation) -> str:
        unwritten = {"kind": "np.nan", "bool": "False", "np.bool_": "False"}.get(kind(node.dtype), "90")
        return f"np.full({self.shape(node)}, {unwritten}, {kind(node.dtype)})"  # shows where a result has some of it

    _empty_permuted = _empty_strided = _new_empty = _new_empty_strided = _empty_like = _empty

    def _ones(self, node: Operation) -> str:
        return f"np.ones({self.shape(node)}, {kind(node.dtype)})"

    _ones_like = _new_ones = _ones

    def _arange(self, node: Operation) -> str:
        return f"np.arange({', '.join(self.text(v) for v in node.args)}).astype({kind(node.dtype)})"

    def _iota(self, node: Operation) -> str:
        start, step = (self.text(node.kwargs.get(n, d)) for n, d in (("start", 0), ("step", 1)))
        return f"({start} + {step} * np.arange({self.text(node.args[0])})).astype({kind(node.dtype)})"

    def _to_copy(self, node: Operation) -> str:
        return f"{self.text(node.args[0])}.astype({kind(node.dtype)})"

    def _convert_element_type(self, node: Operation) -> str:
        return f"{self.text(node.args[0])}.astype({kind(node.dtype)})"
