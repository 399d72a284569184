"""The `reference.py` of a task that executes a NumPy text as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imports.graph import Graph, Tensor
from imports.node_arguments import tuple_of
from imports.numpy_source import COUNTED, NumpySource
from imports.numpy_text import LAWS
from imports.sizing import Sizing
from tasks.dtypes import numpy_dtype


@dataclass(frozen=True)
class InputDraws:
    """The names of all arguments, the bound of whole numbers without a limit, the inputs that must be positive."""

    names: Sequence[str]
    most: int
    positive: Sequence[str]


def verbatim_text(source: NumpySource, graph: Graph, sizing: Sizing, law: str, title: str, draws: InputDraws) -> str:
    """Write the whole file."""
    outputs = {spec.name: spec.dtype for spec, _ in graph.outputs}
    updates = {spec.name: spec.initial for spec, _ in graph.outputs if spec.initial}
    sizes = {**{n: n for n in sizing.base}, **{n: str(v) for n, v in sizing.fixed.items()}, **sizing.followers}
    specs = {spec.name: spec for spec, _ in graph.outputs}
    stated = [_stated(kind, value, sizes, specs) for kind, value in source.stated(draws.names)]
    fields = {
        "function": source.entry,
        "arguments": stated,
        "outputs": outputs,
        **({"updates": updates} if updates else {}),
        **({"sizes": sizes} if not source.specs else {}),
        **({"draws_double": True} if not source.specs and source.draws_double else {}),
    }
    original = [f"ORIGINAL = Verbatim(\n    {_quoted(source.text)},"]
    original += [f"    {name}={value!r}," for name, value in fields.items()]
    types = ["ml_dtypes"] if any(numpy_dtype(t.dtype).type.__module__ == "ml_dtypes" for t in graph.inputs) else []
    parts = [
        f'"""{title}: float64 as the reference, float32 as the scale of the error. Made by `tasks new`."""',
        "\n".join(
            [*(f"import {name}" for name in types), "import numpy as np", "", "from tasks.verbatim import Verbatim"]
        ),
        "\n".join([*original, ")"]),
        LAWS[law].strip("\n"),
        _make_inputs(source, graph, sizing, draws),
        "def reference(inputs, case):\n    return ORIGINAL.reference(inputs, case)",
        "def baseline(inputs, case):\n    return ORIGINAL.baseline(inputs, case)",
    ]
    return "\n\n\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    """Write a text as a literal of Python that reads as the text does."""
    body = text if text.endswith("\n") else text + "\n"
    if "'''" not in body and not body.endswith("'") and "\r" not in body:
        literal = f"r'''\n{body}'''[1:]" if "\\" in body else f"'''\n{body}'''[1:]"
        return literal
    return json.dumps(body)


def _stated(kind: str, value: Any, sizes: Mapping[str, str], outputs: Mapping[str, Tensor]) -> tuple[Any, ...]:
    if kind == "input" and value in outputs:
        return "filled", value, outputs[value].dtype, list(outputs[value].shape)
    return kind, sizes.get(str(value), value) if kind == "size" else value


def _make_inputs(source: NumpySource, graph: Graph, sizing: Sizing, draws: InputDraws) -> str:
    inputs = {t.name: t for t in graph.inputs}
    if not source.specs:
        types = {name: _type(inputs[name].dtype) if name in inputs else "None" for name in draws.names}
        casts = ", ".join(f'"{name}": {dtype}' for name, dtype in types.items())
        return "\n".join(
            [
                "def make_inputs(case, rng):",
                f"    types = {{{casts}}}",
                "    values = ORIGINAL.inputs(case, rng, draw)",
                "    return {name: np.ascontiguousarray(x).astype(t).reshape(x.shape)"
                " for (name, t), x in zip(types.items(), values) if t}",
            ]
        )
    limits = [_over_dims(limit, sizing) for _, _, limit in source.specs.values()]
    pairs = [(inputs[name], limit) for name, limit in zip(draws.names, limits, strict=True) if name in inputs]
    entries = [f'        "{t.name}": {_law(t, limit, draws)},' for t, limit in pairs]
    used = "\n".join(entries)
    unpacked = [f'    {n} = case.dims["{n}"]' for n in sizing.base if re.search(rf"\b{n}\b", used)]
    return "\n".join(["def make_inputs(case, rng):", *unpacked, "    return {", *entries, "    }"])


def _over_dims(text: str, sizing: Sizing) -> str:
    """Write an expression of the source's sizes over the dims of the task."""
    known = {**{n: str(v) for n, v in sizing.fixed.items()}, **{n: f"({e})" for n, e in sizing.followers.items()}}
    return re.sub(r"[A-Za-z_]\w*", lambda m: known.get(m[0], m[0]), text)


def _law(tensor: Tensor, limit: str, draws: InputDraws) -> str:
    shape, dtype = tuple_of(tensor.shape), tensor.dtype
    if numpy_dtype(dtype).kind not in "iub":
        is_positive = tensor.name in draws.positive
        drawn = f'np.abs(draw(rng, {shape}, "uniform")) + np.float32(0.25)' if is_positive else _normal(shape)
        drawn = f"({drawn})" if is_positive and dtype == "f64" else drawn
        return f"{drawn}.astype(np.float64)" if dtype == "f64" else drawn
    if dtype == "bool":
        return f"rng.integers(0, 2, {shape}).astype(bool)"
    kind = f"np.{numpy_dtype(dtype).name}"
    if limit or dtype in COUNTED:
        return f"rng.integers(0, {limit if limit else draws.most}, {shape}).astype({kind})"
    return f"rng.integers(np.iinfo({kind}).min, np.iinfo({kind}).max + 1, {shape}).astype({kind})"


def _normal(shape: str) -> str:
    return f'draw(rng, {shape}, "normal")'


def _type(dtype: str) -> str:
    stored = numpy_dtype(dtype)
    return (
        "bool"
        if dtype == "bool"
        else f"np.{stored.name}"
        if stored.type.__module__ == "numpy"
        else f"ml_dtypes.{stored.name}"
    )
