"""A file of NumPy, executed as it is with some of its constants replaced. Runs in the import's own process only."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from imports.import_source import Source
from imports.names import free_name, is_plain
from imports.refusal import ImportRefused
from tasks.dtypes import NUMPY, Array, is_float, numpy_dtype
from tasks.expressions import evaluate
from tasks.file_sizes import entries
from tasks.random_draws import RandomDraws
from tasks.verbatim import StandIn, answers_of, argument, executed, precise_of, results_of, working_input, working_space
from tasks.working_numpy import DoubleArray, SingleArray, WorkingArray, WorkingModule

DRAWING = ("get_inputs", "get_init_inputs")
MOSTS = (100, 2)  # of whole numbers: small ones where they are places in other inputs
KERNEL_MOSTS = (1 << 15, 100, 2)
COUNTED = ("i16", "i32", "i64")  # types of which not every value is drawn
DOUBLE = ("float64", "double")  # words of a text that draws inputs in double precision on purpose
SEED = 42


@dataclass(frozen=True)
class NumpyResult:
    """A result: its values, the input that it updates or "", and its type where the source says it."""

    array: Array
    updated: str
    dtype: str = ""


@dataclass(frozen=True)
class NumpySource(Source):
    """A function of NumPy. Of a HIP file's reference `parameters` and `results` say what its buffers are."""

    kernel: str = ""  # the HIP file
    parameters: Sequence[Sequence[Any]] = ()  # of the function: ("input", name), ("size", name) or ("number", value)
    results: Sequence[Sequence[str]] = ()  # name, type, elements, and the input that it updates or ""
    multiples: Mapping[str, int] = field(default_factory=dict)
    scalars_vary: bool = True  # of no effect: numbers stay as they are given

    def scalars(self) -> Mapping[str, float]:
        """Return none: the operations of a text are followed with its numbers in them."""
        return {}

    def limits(self) -> Mapping[str, int]:
        """Return the limits of a HIP file: a third of its own sizes, since no kernel promises more than those."""
        return {n: max(1, v // 3) for n, v in self.sizes.items()} if self.kernel else {}

    def original(self) -> str:
        """Return the HIP file, or the text itself."""
        return self.kernel or self.text

    def notes(self) -> Sequence[str]:
        """Say which inputs have other names in the task."""
        pairs = zip(self.specs, self.names(0), strict=True) if self.specs else ()
        return [f"{safe} stands for {name}, a word of C++ or Python" for name, safe in pairs if safe != name]

    @cached_property
    def entry(self) -> str:
        """The name of the function; ImportRefused where the file has none of that name, or several."""
        functions = [n for n in self.tree().body if isinstance(n, ast.FunctionDef)]
        names = [n.name for n in functions if not n.name.startswith("_") and n.name not in DRAWING]
        if self.function:
            if self.function not in [n.name for n in functions]:
                raise ImportRefused(f"{self.path} has no {self.function}; it has {', '.join(names) or 'no functions'}")
            return self.function
        ends = names if len(names) == 1 else entries(self.tree(), names)
        if len(ends) != 1:
            raise ImportRefused(f"{self.path} has {', '.join(names) or 'no function'}: name one with FILE:FUNCTION")
        return ends[0]

    def stated(self, names: Iterable[str]) -> tuple[tuple[str, Any], ...]:
        """Return the arguments of a call, in the task's names for its inputs."""
        safe = dict(zip(self.specs, names, strict=True)) if self.specs else {}
        if self.parameters:
            kinds = {"input": lambda v: ("input", safe[v]), "real": lambda v: ("number", self.numbers[v])}
            return tuple(kinds.get(k, lambda v, k=k: (k, v))(v) for k, v in self.parameters)
        if not self.numbers:
            return tuple(("input", name) for name in names)
        return tuple(self._in_order(safe))

    def _in_order(self, safe: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
        """Yield inputs and numbers in the order of the function's parameters, defaults between them as they are."""
        parameters = self._function().args
        plain = [*parameters.posonlyargs, *parameters.args]
        defaults = [None] * (len(plain) - len(parameters.defaults)) + list(parameters.defaults)
        last = max((i for i, p in enumerate(plain) if p.arg in safe or p.arg in self.numbers), default=-1)
        for parameter, default in list(zip(plain, defaults, strict=True))[: last + 1]:
            name = parameter.arg
            if name in safe:
                yield "input", safe[name]
            elif name in self.numbers:
                yield "number", self.numbers[name]
            else:
                yield "number", _literal(name, default)

    def _function(self) -> ast.FunctionDef:
        return next(n for n in self.tree().body if isinstance(n, ast.FunctionDef) and n.name == self.entry)

    def names(self, count: int) -> tuple[str, ...]:
        """Name the inputs by the parameters, where neither C++ nor a plan has those words for something else."""
        if self.specs:
            return tuple(free_name(name, ()) for name in self.specs)
        arguments = self._function().args
        parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][:count]
        names = parameters if len(parameters) == count else [f"x{i}" for i in range(count)]
        return tuple(free_name(n if is_plain(n) else f"x{i}", ()) for i, n in enumerate(names))

    @cached_property
    def draws_double(self) -> bool:
        """Tell whether the file's get_inputs asks for double precision: NumPy's default alone does not mean it."""
        draw = next((n for n in self.tree().body if isinstance(n, ast.FunctionDef) and n.name == DRAWING[0]), None)
        return draw is not None and any(word in ast.unparse(draw) for word in DOUBLE)

    def drawn(self, constants: Mapping[str, int], rng: np.random.Generator, most: int = 0) -> dict[str, Array]:
        """Draw plain inputs for these constants; whole numbers below `most` where they have no limit."""
        if not self.specs:
            values = self._own_inputs(constants, rng)
            return dict(zip(self.names(len(values)), values, strict=True))
        specs = self.specified({n: int(constants[n]) for n in self.sizes}).values()
        below = most if most else self.most(constants)
        return {n: _drawn(*spec, rng, below) for n, spec in zip(self.names(0), specs, strict=True)}

    def _own_inputs(self, constants: Mapping[str, int], rng: np.random.Generator) -> list[Array]:
        kind = DoubleArray if self.draws_double else SingleArray
        space = working_space(self.text, constants, kind, np.dtype(kind.real_type), RandomDraws(rng, plain_draw))
        draw = space.get("get_inputs")
        if not callable(draw):
            raise ImportRefused(f"{self.path} does not say which inputs it takes")
        values = draw()
        if not isinstance(values, (list, tuple)) or not all(isinstance(v, np.ndarray) for v in values):
            raise ImportRefused(f"get_inputs of {self.path} must return a list of arrays")
        return [np.asarray(kind.plain(value)) for value in values]

    def most(self, constants: Mapping[str, int]) -> int:
        """Find the bound of whole numbers without a limit: the largest of a few with which the function runs."""
        mosts = KERNEL_MOSTS if self.kernel else MOSTS
        if any(dtype in COUNTED and not limit for dtype, _, limit in self.specs.values()):
            for most in mosts[:-1]:
                try:
                    self.outcomes(constants, self.drawn(constants, np.random.default_rng(SEED), most), SingleArray)
                except (IndexError, ValueError):
                    continue
                return most
            return mosts[-1]
        return mosts[0]

    def refuse_sizes(self, constants: Mapping[str, int]) -> None:
        """ValueError for sizes that a HIP file does not serve."""
        for name, step in self.multiples.items():
            if constants[name] % step:
                raise ValueError(f"{name} must be a multiple of {step}")
        sizes = {n: int(constants[n]) for n in self.sizes}
        extents = [n for _, shape, _ in self.specified(sizes).values() for n in shape] if self.specs else []
        counts = [evaluate(count, sizes) for _, _, count, _ in self.results if count]
        if min([*extents, *counts], default=1) < 1:
            raise ValueError("a tensor would have no elements")

    def called(
        self, constants: Mapping[str, int], inputs: Mapping[str, Array], stand_in: StandIn, given: Mapping[str, Any]
    ) -> Any:
        """Call the function on what is given for the inputs, with what stands in for NumPy."""
        space = executed(self.text, {} if self.specs else constants, stand_in)
        if not callable(space.get(self.entry)):
            raise ImportRefused(f"{self.path} has no function {self.entry} after it was executed")
        with np.errstate(all="ignore"):
            return space[self.entry](*(argument(a, given, constants) for a in self.stated(inputs)))

    def outcomes(
        self, constants: Mapping[str, int], inputs: Mapping[str, Array], kind: type[WorkingArray]
    ) -> dict[str, NumpyResult]:
        """Call it on copies of the inputs: the arrays that it returns or writes into, by the names of the outputs."""
        given = {name: working_input(x, kind) for name, x in inputs.items()}
        precise = precise_of(inputs.values())
        result = self.called(constants, inputs, lambda module: WorkingModule(module, kind, precise), given)
        values = results_of(result)
        if self.results:
            return self._buffers(values, given, constants, inputs)
        changed = [n for n, x in given.items() if not np.array_equal(x, working_input(inputs[n], kind), equal_nan=True)]
        returned = [value for value in values if not any(value is given[n] for n in changed)]
        titles = ["y"] if len(returned) == 1 else [f"y{i}" for i in range(len(returned))]
        outcomes = {
            (title if title not in inputs else f"{title}_out"): NumpyResult(_array(value, title), "")
            for title, value in zip(titles, returned, strict=True)
        }
        for name in changed:
            is_filled = self._is_filled(name, constants, inputs, kind, given)
            dtype = _name_of(inputs[name].dtype) if is_filled else ""
            outcomes[name if is_filled else f"new_{name}"] = NumpyResult(
                np.asarray(given[name]), "" if is_filled else name, dtype
            )
        if not outcomes:
            raise ImportRefused("it returns nothing and writes into none of its inputs")
        return outcomes

    def _is_filled(
        self,
        name: str,
        constants: Mapping[str, int],
        inputs: Mapping[str, Array],
        kind: type[WorkingArray],
        after: Mapping[str, Array],
    ) -> bool:
        """Tell whether an input is written and never read: with other values in it everything comes out the same."""
        other = {**inputs, name: np.roll(inputs[name].ravel() + 1, 1).reshape(inputs[name].shape)}
        given = {n: working_input(x, kind) for n, x in other.items()}
        precise = precise_of(inputs.values())
        self.called(constants, other, lambda module: WorkingModule(module, kind, precise), given)
        return all(np.array_equal(given[n], after[n], equal_nan=True) for n in given)

    def _buffers(
        self, values: Sequence[Any], given: Mapping[str, Any], constants: Mapping[str, int], inputs: Mapping[str, Array]
    ) -> dict[str, NumpyResult]:
        """Give the results to the output buffers of a HIP file; ImportRefused where they do not fit."""
        safe = dict(zip(self.specs, inputs, strict=True))
        names = [name for name, _, _, _ in self.results]
        updates = {name: safe[updated] for name, _, _, updated in self.results if updated}
        try:
            arrays = answers_of(values, names, updates, given)
        except ValueError as error:
            raise ImportRefused(f"its reference does not fit the file: {error}") from None
        outcomes = {}
        for name, dtype, count, _ in self.results:
            array = _array(arrays[name], name)
            expected = evaluate(count, constants) if count else array.size
            if array.size != expected:
                raise ImportRefused(
                    f"its reference returns {array.size} elements for {name}, which has {expected}; give the shapes of "
                    "inputs with --input where they are other ones"
                )
            shape = given[updates[name]].shape if name in updates else array.shape or (1,)
            outcomes[name] = NumpyResult(array.reshape(shape), updates.get(name, ""), dtype)
        return outcomes


def _literal(name: str, default: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(default) if default is not None else None
    except ValueError:
        raise ImportRefused(f"the default of {name} is no plain value: give it with --input {name}=...") from None


def _name_of(dtype: np.dtype[Any]) -> str:
    return next(name for name, stored in NUMPY.items() if stored == dtype)


def _array(value: Any, name: str) -> Array:
    if not isinstance(value, np.ndarray | np.generic | int | float):
        raise ImportRefused(f"it returns {type(value).__name__} for {name}, where an array or a number is expected")
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype == np.uint64 else array


def plain_draw(rng: np.random.Generator, shape: Any, law: str) -> Array:
    """Draw as a file itself would."""
    return np.asarray(rng.random(shape) if law == "uniform" else rng.standard_normal(shape), np.float32)


def _drawn(dtype: str, shape: Sequence[int], limit: int, rng: np.random.Generator, most: int) -> Array:
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(kind)
    if is_float(kind):
        return rng.standard_normal(shape).astype(kind)
    if limit or dtype in COUNTED:
        return rng.integers(0, limit if limit else most, shape).astype(kind)
    return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
