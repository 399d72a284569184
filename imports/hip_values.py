"""Values of a graph as C++: numbers, expressions over dims, elements at indices."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from imports.graph import Graph, Number, Operation, Ref, Size
from imports.refusal import ImportRefused

C_TYPES = {
    "f64": "double",
    "f32": "float",
    "f16": "float",
    "bf16": "float",
    "e4m3fn": "float",
    "e5m2": "float",
    "e4m3fnuz": "float",
    "e5m2fnuz": "float",
    "i64": "long long",
    "i32": "int",
    "i16": "int",
    "i8": "int",
    "u8": "int",
    "bool": "bool",
}


def c_expression(size: Size) -> str:
    """Write an expression over dims as C++ on 64-bit numbers; dims are members of `q_`."""
    text = re.sub(r"[A-Za-z_]\w*", lambda m: f"q_.{m[0]}", str(size)).replace("//", "/")
    return f"({text})" if not re.fullmatch(r"[\w.]+", text) else text


def place_in(shape: Sequence[Size], indices: Sequence[str]) -> str:
    """Write the place of an element in a dense buffer."""
    flat = indices[0] if indices else "0"
    for size, index in zip(shape[1:], indices[1:], strict=True):
        flat = f"({flat}) * {c_expression(size)} + {index}"
    return flat


def number(value: Any, dtype: str) -> str:
    """Write a literal, or a number that follows from the dims."""
    if isinstance(value, Number):
        text = re.sub(r"[A-Za-z_]\w*", lambda m: m[0] if m[0] == "float" else f"q_.{m[0]}", value.text).replace(
            "//", "/"
        )
        if "** 0.5" in text:
            text = f"sqrtf({text.replace('** 0.5', '')})"
        elif "** -0.5" in text:
            text = f"(1.0f / sqrtf({text.replace('** -0.5', '')}))"
        elif "** " in text:
            base, _, power = text.partition(" ** ")
            return f"powf((float){base}, {power}f)"
        return f"({'float' if value.is_real else 'Index'})({text})" if "1.0" not in text else f"(float)({text})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and dtype in ("f32", "f16", "bf16", "f64", "bool"):
        if math.isnan(value):
            return '__builtin_nanf("")'
        if value in (float("inf"), float("-inf")):
            return "__builtin_huge_valf()" if value > 0 else "-__builtin_huge_valf()"
        text = repr(float(value))
        return f"{text}f" if value >= 0 else f"({text}f)"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    raise ImportRefused(f"the number {value!r} has no naive kernel yet")


SCALARS: Mapping[str, str] = {
    "sign_of": "__device__ float sign_of(float x) { return (x > 0) - (x < 0); }",
    "sigmoid_of": "__device__ float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }",
    "remainder_of": (
        "__device__ float remainder_of(float x, float y) "
        "{ const float r = fmodf(x, y); return r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r; }"
    ),
    "relu_of": "__device__ float relu_of(float x) { return fmaxf(x, 0.0f); }",
    "larger_of": "__device__ long long larger_of(long long x, long long y) { return x > y ? x : y; }",
    "smaller_of": "__device__ long long smaller_of(long long x, long long y) { return x < y ? x : y; }",
    "power_of": (
        "template <int N> __device__ float power_of(float x) "
        "{ float y = x; for (int n = 1; n < N; ++n) y *= x; return y; }"
    ),
    "square_of": "__device__ float square_of(float x) { return x * x; }",
}


class HipValues:
    """Elements of the values of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = {n.name: n for n in graph.nodes}
        self._inputs = {t.name for t in graph.inputs}

    def value(self, name: str, indices: Sequence[str]) -> str:
        """Write the element of a value at these indices."""
        return f"{'at' if name in self._inputs else 'f'}_{name}({', '.join(['q_', *indices])})"

    def operand(self, value: Any, node: Operation, indices: Sequence[str]) -> str:
        """Write an operand of an element-wise operation at the indices of its result."""
        if not isinstance(value, Ref):
            return number(value, node.dtype)
        shape = self._graph.shape_of(value.name)
        operand_indices = list(indices)[len(indices) - len(shape) :] if shape else []
        out = node.shape[len(node.shape) - len(shape) :] if shape else ()
        return self.value(
            value.name, ["0" if s == 1 and o != 1 else i for s, o, i in zip(shape, out, operand_indices, strict=True)]
        )
