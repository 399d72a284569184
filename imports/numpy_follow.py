"""The graph of a NumPy function: written down at several sizes, numbers fitted, compared with the function itself.

In the import's own process only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imports.fitted_sizes import Sizes
from imports.fitting import Fitting
from imports.graph import Graph, Operation
from imports.numpy_source import SEED, NumpySource
from imports.numpy_text import reference_text
from imports.refusal import FAULTS, ImportDiffers, ImportRefused, ImportUnfitted, ImportUnrolled, short, with_sizes
from imports.sizing import Sizing
from imports.traced_array import Tape, TracedArray
from imports.traced_numpy import TracedModule, TracedNumpy
from tasks.dtypes import Array, is_float
from tasks.loader import functions_of
from tasks.task import Case
from tasks.verbatim import precise_of, results_of
from tasks.working_numpy import DoubleArray

CLOSE = 1e-9
FITS = 3  # times that expressions are fitted to sizes
PLACES = ("argmax", "argmin", "sort")  # their places are free where values are equal
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 6.0, -3.0)  # ends of pieces, and halves that are rounded
WRONG = "its operations, as they were followed, do not give what it computes"
CHANGES = "its operations change with its sizes, so one graph cannot stand for all"


@dataclass(frozen=True)
class NumpyTrace:
    """One run: its operations in order, and the names of the values at its end."""

    nodes: Sequence[Operation]
    ends: Sequence[str]


def followed_graph(source: NumpySource, sizing: Sizing, original: Mapping[str, int], plain: Graph) -> Graph:
    """Follow the function that has these inputs and outputs; ImportUnfitted where it changes with its sizes."""
    rng = np.random.default_rng(0)
    configs = sizing.configs(rng)
    for left in reversed(range(FITS)):
        graph = _unified(source, sizing, original, plain, configs)
        unseen = sizing.unseen(rng)
        try:
            for config in unseen:
                _refuse_difference(source, graph, config, {**original, **sizing.constants(config)})
            return graph
        except ImportDiffers:
            if not left:
                raise
            configs = [*configs, *unseen]
    raise AssertionError


def _unified(
    source: NumpySource, sizing: Sizing, original: Mapping[str, int], plain: Graph, configs: Sequence[Mapping[str, int]]
) -> Graph:
    """Make one graph of the runs under several sizes."""
    traces = [_traced(source, {**original, **sizing.constants(config)}, plain, config) for config in configs]
    keys = [[(n.op, n.name, n.dtype) for n in t.nodes] for t in traces]
    if any(key != keys[0] for key in keys):
        raise with_sizes(ImportUnrolled(CHANGES, [len(t.nodes) for t in traces]), configs)
    sizes = Sizes(Fitting(configs))
    try:
        nodes = tuple(
            Operation(
                row[0].name,
                row[0].op,
                tuple(sizes.merged([n.args for n in row])),
                {name: sizes.merged([n.kwargs[name] for n in row]) for name in row[0].kwargs},
                sizes.shape([n.shape for n in row]),
                row[0].dtype,
            )
            for row in zip(*(t.nodes for t in traces), strict=True)
        )
    except ImportUnfitted as error:
        raise with_sizes(error, configs) from None
    outputs = tuple((spec, end) for (spec, _), end in zip(plain.outputs, traces[0].ends, strict=True))
    graph = Graph(plain.inputs, nodes, outputs)
    used, needed = graph.needed()
    begun = {spec.initial for spec, _ in outputs}
    if unused := [t.name for t in plain.inputs if t.name not in needed | begun]:
        raise ImportRefused(f"its result does not depend on its input {unused[0]}")
    return replace(graph, nodes=used)


def _traced(source: NumpySource, constants: Mapping[str, int], plain: Graph, dims: Mapping[str, int]) -> NumpyTrace:
    """Run the function once on traced arrays."""
    inputs = source.drawn(constants, np.random.default_rng(SEED))
    tape = Tape(precise_of(inputs.values()), {*inputs, *dims, *(spec.name for spec, _ in plain.outputs)})
    numpy = TracedNumpy(tape)
    given = {name: TracedArray(tape, name, _wide(x)) for name, x in inputs.items()}
    try:
        result = source.called(constants, inputs, lambda module: TracedModule(module, numpy), given)
        values = [numpy.of(value) for value in results_of(result)]
        return NumpyTrace(tape.nodes, _ends(numpy, plain, values, given, source.results))
    except ImportRefused:
        raise
    except (*FAULTS, RecursionError) as error:
        raise ImportRefused(f"its operations cannot be followed: {short(error)}") from None


def _ends(
    numpy: TracedNumpy,
    plain: Graph,
    values: Sequence[TracedArray],
    given: Mapping[str, TracedArray],
    results: Sequence[Any],
) -> list[str]:
    """Name the value of each output, in its shape."""
    written = {spec.name: spec.initial or spec.name for spec, _ in plain.outputs}
    updated = [name for name in written.values() if name in given]
    returned = [v for v in values if not any(v is given[n] for n in updated)]
    in_order = len(returned) == len(plain.outputs)
    left, ends = iter(returned), list[str]()
    for spec, _ in plain.outputs:
        place = given.get(written[spec.name])
        value = place if place is not None and not in_order else next(left)
        rank = len(spec.shape)
        if place is not None and value.shape != place.shape:
            value = value.reshape(place.shape)
        elif rank != value.ndim:
            value = value.reshape([1] * rank)
        ends.append(value.name)
    return ends


def _refuse_difference(
    source: NumpySource, graph: Graph, dims: Mapping[str, int], constants: Mapping[str, int]
) -> None:
    """ImportDiffers where graph and function differ: on the file's own inputs, and on others of both signs."""
    text = reference_text(graph, None, list(dims), "plain", "check")
    compute = functions_of(Path("reference.py"), text, hashlib.sha256(text.encode()).hexdigest())["reference"]
    rng = np.random.default_rng(1)
    has_places = any(node.op.split(".")[1:2] == [name] for node in graph.nodes for name in PLACES)
    own = source.drawn(constants, rng)
    for inputs in (own, {name: _both_signs(x, rng, not has_places) for name, x in own.items()}):
        outcomes = source.outcomes(constants, inputs, DoubleArray)
        with np.errstate(all="ignore"):
            computed = compute(inputs, Case("", dict(dims), 0))
        for spec, _ in graph.outputs:
            if not _agree(computed[spec.name], outcomes[spec.name].array):
                raise ImportDiffers(WRONG)


def _agree(mine: Array, right: Array) -> bool:
    """Tell whether both are the same numbers to nine digits of the largest, infinities and NaN included."""
    if mine.shape != right.shape:
        return False
    right = np.asarray(right, np.float64)
    finite = np.isfinite(right)
    if not np.array_equal(mine[~finite], right[~finite], equal_nan=True):
        return False
    scale = max(1e-30, float(np.abs(right[finite]).max(initial=0.0)))
    return bool(np.abs(mine[finite] - right[finite]).max(initial=0.0) <= CLOSE * scale)


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if is_float(array.dtype) else array.copy()


def _both_signs(array: Array, rng: np.random.Generator, with_ties: bool) -> Array:
    """Numbers of both signs and some special ones in the place of a real input."""
    if not is_float(array.dtype) or not array.size:
        return array
    numbers = np.asarray(3 * rng.standard_normal(array.shape))
    if with_ties:
        numbers.reshape(-1)[rng.integers(array.size, size=len(SPECIAL))] = SPECIAL
    return numbers.astype(array.dtype)
