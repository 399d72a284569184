"""NumPy's way to a task: the text is executed as it is, and followed only for what a generated kernel needs.

In the import's own process only. Nothing of PyTorch is needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imports.fitting import Fitting, value_of
from imports.graph import Graph, Tensor
from imports.numpy_follow import followed_graph
from imports.numpy_source import SEED, NumpyResult, NumpySource
from imports.numpy_text import SAID
from imports.refusal import FAULTS, ImportRefused, ImportUnfitted, named, short, with_sizes
from imports.route import Followed, refuse_other_shapes
from imports.sizing import Sizing
from imports.verbatim_text import InputDraws, verbatim_text
from tasks.dtypes import NUMPY, Array, is_float
from tasks.structure import STRUCTURES, has_structure
from tasks.working_numpy import DoubleArray, SingleArray, StrictDoubleArray

TYPES = {dtype: name for name, dtype in NUMPY.items()}
NARROW = ("float16", "half", "bfloat16")  # words of a text that rounds between
LEAST_VALUES = 8
FITS = 3  # times that expressions are fitted to sizes


@dataclass(frozen=True)
class NumpyRoute:
    """A source of NumPy."""

    source: NumpySource
    statement: str = "reference.py holds the original's own text, executed in double precision."

    def try_out(self, constants: Mapping[str, Any]) -> None:
        """Compute the outputs twice; ImportRefused where they differ."""
        self.source.refuse_sizes(constants)
        inputs = self.source.drawn(constants, np.random.default_rng(SEED))
        first, second = (self.source.outcomes(constants, inputs, SingleArray) for _ in range(2))
        if not all(outcome.array.size for outcome in first.values()):
            raise ValueError("a result has no elements")
        refuse_other_shapes([[o.array.shape for o in outcomes.values()] for outcomes in (first, second)])
        for name, outcome in first.items():
            if not np.array_equal(outcome.array, second[name].array, equal_nan=outcome.array.dtype.kind == "f"):
                raise ImportRefused(
                    f"its result {name} differs from call to call, so it does not follow from its inputs"
                )

    def followed(self, sizing: Sizing, original: Mapping[str, int]) -> Followed:
        """Follow its operations; ImportUnfitted where they change with its sizes."""
        plain = self._shaped(sizing, original)
        graph = followed_graph(self.source, sizing, original, plain.graph)
        return replace(plain, graph=replace(graph, notes=plain.graph.notes))

    def unfollowed(self, sizing: Sizing, original: Mapping[str, int], reason: ImportRefused) -> Followed:
        """Return inputs and outputs alone."""
        return replace(self._shaped(sizing, original), unseeded=str(reason))

    def seconds(self, sizing: Sizing, dims: Mapping[str, int]) -> float:
        """Measure how long one execution takes."""
        constants = {**self.source.constants(), **sizing.constants(dict(dims))}
        inputs = self.source.drawn(constants, np.random.default_rng(SEED))
        began = time.process_time()
        self.source.outcomes(constants, inputs, DoubleArray)
        return time.process_time() - began

    def unplanted(self, followed: Followed, sizing: Sizing) -> tuple[str, ...]:
        """Name the inputs of whose zeros it makes whole numbers of what is no number: 0 / 0 in eight bits."""
        constants = {**self.source.constants(), **sizing.constants(sizing.base)}
        drawn = self.source.drawn(constants, np.random.default_rng(SEED))
        return tuple(t.name for t in followed.graph.inputs if not self._takes_zeros(constants, drawn, t.name))

    def _takes_zeros(self, constants: Mapping[str, int], drawn: Mapping[str, Array], name: str) -> bool:
        x = drawn[name]
        if not is_float(x.dtype):
            return True
        changed = [np.zeros_like(x), *(_with_first_zero(x, axis) for axis in range(x.ndim))]
        try:
            for values in changed:
                self.source.outcomes(constants, {**drawn, name: values}, StrictDoubleArray)
        except FloatingPointError:
            return False
        except (*FAULTS, ImportRefused):
            return True
        return True

    def reference_text(self, followed: Followed, sizing: Sizing, law: str, title: str) -> str:
        """Write the text of the file behind the draws of its inputs."""
        constants = {**self.source.constants(), **sizing.constants(sizing.base)}
        names = list(self.source.drawn(constants, np.random.default_rng(SEED)))
        draws = InputDraws(names, self.source.most(constants), self._positive(constants))
        return verbatim_text(self.source, followed.graph, sizing, law, title, draws)

    def _positive(self, constants: Mapping[str, int]) -> tuple[str, ...]:
        """Name the inputs that have to be positive, or the function gives what is no number: a variance."""
        drawn = self.source.drawn(constants, np.random.default_rng(SEED))
        real = tuple(n for n, x in drawn.items() if self.source.specs and is_float(x.dtype))
        for names in ((), *((n,) for n in real), real):
            changed = {n: np.abs(x) + x.dtype.type(0.25) if n in names else x for n, x in drawn.items()}
            outcomes = self.source.outcomes(constants, changed, DoubleArray).values()
            if all(np.isfinite(o.array).all() for o in outcomes):
                return names
        return ()

    def said(self, law: str, followed: Followed) -> str:
        """Say how the inputs are drawn."""
        is_own = not self.source.specs or law != "plain"
        return SAID[law] if is_own else "inputs are drawn from a normal distribution"

    def _shaped(self, sizing: Sizing, original: Mapping[str, int]) -> Followed:
        """Fit the shapes of inputs and results to several sizes, and to more where an expression fails at others."""
        rng = np.random.default_rng(0)
        configs = sizing.configs(rng)
        for left in reversed(range(FITS)):
            observations = [self._observed(sizing, original, config) for config in configs]
            graph = _graph(configs, observations)
            unseen = sizing.unseen(rng)
            if all(self._fits(graph, sizing, original, config) for config in unseen):
                break
            if not left:
                raise ImportUnfitted("the shapes of its results follow from its sizes in no simple way")
            configs = [*configs, *unseen]
        return Followed(self._noted(graph, sizing, original), None, {})

    def _noted(self, graph: Graph, sizing: Sizing, original: Mapping[str, int]) -> Graph:
        notes = list(graph.notes)
        most = self.source.most({**original, **sizing.constants(sizing.base)})
        if self.source.specs and most <= 2:
            notes.append(
                f"whole numbers without a limit are below {most}, with which it runs; name one as ids=i64[n]:N"
            )
        narrow = sorted({w for w in NARROW if re.search(rf"\b{w}\b", self.source.text)})
        if narrow and not any(t.dtype in ("f16", "bf16") for t in graph.inputs):
            notes.append(
                f"{narrow[0]} in its text rounds nothing here: the reference is exact, results have the inputs' type"
            )
        above = self._positive({**original, **sizing.constants(sizing.base)})
        notes += [f"{n} is drawn above zero: otherwise the function gives what is no number" for n in above]
        return replace(graph, notes=tuple(notes))

    def _observed(self, sizing: Sizing, original: Mapping[str, int], dims: Mapping[str, int]) -> Observation:
        """Execute it once; ImportUnfitted where it does not run, with the sizes that alone are too large for it."""
        try:
            return self._executed({**original, **sizing.constants(dims)})
        except FAULTS as error:
            unfit = ImportUnfitted(f"it does not run for {named(sizing.constants(dims))}: {short(error)}")
        unfit.sizes = tuple(
            n for n in dims if not self._runs({**original, **sizing.constants({**sizing.base, n: dims[n]})})
        )
        raise unfit

    def _executed(self, constants: Mapping[str, int]) -> Observation:
        self.source.refuse_sizes(constants)
        inputs = self.source.drawn(constants, np.random.default_rng(SEED))
        return Observation(inputs, self.source.outcomes(constants, inputs, SingleArray))

    def _runs(self, constants: Mapping[str, int]) -> bool:
        try:
            self._executed(constants)
        except FAULTS:
            return False
        return True

    def _fits(self, graph: Graph, sizing: Sizing, original: Mapping[str, int], dims: Mapping[str, int]) -> bool:
        seen = self._observed(sizing, original, dims)
        arrays = {**seen.inputs, **{name: o.array for name, o in seen.outcomes.items()}}
        tensors = (*graph.inputs, *(spec for spec, _ in graph.outputs))
        return all(arrays[t.name].shape == tuple(value_of(size, dims) for size in t.shape) for t in tensors)


@dataclass(frozen=True)
class Observation:
    """Inputs and outcomes of one execution."""

    inputs: Mapping[str, Array]
    outcomes: Mapping[str, NumpyResult]


def _graph(configs: Sequence[Mapping[str, int]], observations: Sequence[Observation]) -> Graph:
    """Make a graph of inputs and outputs with their shapes over the dims, and no operations."""
    fitting, first = Fitting(configs), observations[0]
    if any(list(o.outcomes) != list(first.outcomes) for o in observations):
        raise ImportUnfitted("its results change with its sizes")

    def shape(name: str, arrays: Sequence[Array]) -> tuple[Any, ...]:
        if len({a.ndim for a in arrays}) > 1:
            raise ImportUnfitted(f"the number of axes of {name} changes with its sizes")
        columns = [[a.shape[axis] for a in arrays] for axis in range(arrays[0].ndim)]
        extents = [fitting.integer(column) for column in columns]
        if None in extents:
            values = columns[extents.index(None)]
            reason = f"the shape of {name} follows from its sizes in no simple way: {values[:4]}"
            raise with_sizes(ImportUnfitted(reason, values), configs)
        return tuple(extents)

    inputs = tuple(
        Tensor(
            n,
            shape(n, [o.inputs[n] for o in observations]),
            type_of(n, x.dtype),
            structure=_structure([o.inputs[n] for o in observations]),
        )
        for n, x in first.inputs.items()
        if n not in first.outcomes  # which is filled
    )
    widest = max((x.dtype for x in first.inputs.values() if is_float(x.dtype)), key=lambda t: t.itemsize, default=None)
    outputs = []
    for name, outcome in first.outcomes.items():
        arrays = [o.outcomes[name].array for o in observations]
        dtype = outcome.dtype or (
            type_of(name, first.inputs[outcome.updated].dtype)
            if outcome.updated
            else type_of(name, widest if widest is not None and is_float(arrays[0].dtype) else arrays[0].dtype)
        )
        outputs.append((Tensor(name, shape(name, arrays), dtype, initial=outcome.updated), ""))
    return Graph(inputs, (), tuple(outputs))


def _with_first_zero(x: Array, axis: int) -> Array:
    changed = x.copy()
    np.moveaxis(changed, axis, 0)[:1] = 0
    return changed


def type_of(name: str, dtype: np.dtype[Any]) -> str:
    """Return the task's name of a type; ImportRefused for one that tasks do not have."""
    if dtype.kind == "c":
        raise ImportRefused(f"its {name} holds complex numbers, and tasks have no such type: return .real and .imag")
    if dtype not in TYPES:
        raise ImportRefused(f"its {name} is {dtype}, and tasks have no such type")
    return TYPES[dtype]


def _structure(arrays: Sequence[Array]) -> str:
    """Find the structure of all of these matrices, of which one at least is large enough to have one by no accident."""
    square = all(a.ndim > 1 and a.shape[-1] == a.shape[-2] and a.dtype.kind == "f" for a in arrays)
    if not square or not any(np.unique(a).size > LEAST_VALUES for a in arrays):
        return ""
    return next((n for n in STRUCTURES if all(has_structure(a.astype(np.float64), n) for a in arrays)), "")
