"""The text of a NumPy function, executed as it is: in float64 as a reference, in float32 as the scale of the error."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tasks.dtypes import Array, is_float, numpy_dtype
from tasks.expressions import evaluate
from tasks.file_sizes import replaced
from tasks.in_order import InOrder
from tasks.random_draws import Draw, RandomDraws
from tasks.working_numpy import DoubleArray, SingleArray, SingleArrayInOrder, WorkingArray, WorkingModule, importing

MODULE = "imported"  # the name that the text has as a module
PATH = "original.py"  # in its traces
BYTE_ORDER = "\ufeff"  # that editors put in front of a text
StandIn = Callable[[Any], Any]  # of a module of NumPy


@dataclass(frozen=True)
class Verbatim:
    """A function in a text of NumPy, and how a task calls it.

    `arguments` are its parameters in order: ("input", name), ("size", an expression over the dims), ("number", value)
    or ("filled", name, type, extents), an array that it fills with the result of this name. `outputs` are the names and
    types of its results in order; of `updates` the values are those of an input that it writes into. `sizes` are
    constants of the text, as expressions over the dims.
    """

    text: str
    function: str
    arguments: Sequence[tuple[Any, ...]]
    outputs: Mapping[str, str]
    updates: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)
    draws_double: bool = False  # `get_inputs` asks for float64

    def reference(self, inputs: Mapping[str, Array], case: Any) -> dict[str, Array]:
        """Compute the answers in float64; TypeError where the text narrows them whatever it is given."""
        answers = self._answers(inputs, case, DoubleArray)
        for name, array in answers.items():
            if is_float(array.dtype) and array.dtype != np.float64:
                raise TypeError(f"it computes {name} in {array.dtype} whatever it is given; nothing says what is exact")
        return {name: np.ascontiguousarray(x, np.float64).reshape(x.shape) for name, x in answers.items()}

    def baseline(self, inputs: Mapping[str, Array], case: Any) -> dict[str, Array]:
        """Compute the answers in float32, stored in the outputs' types."""
        adds_in_order = any(isinstance(x, InOrder) for x in inputs.values())
        answers = self._answers(inputs, case, SingleArrayInOrder if adds_in_order else SingleArray)
        types_by_name = {name: numpy_dtype(dtype) for name, dtype in self.outputs.items()}
        return {n: np.ascontiguousarray(x).astype(types_by_name[n]).reshape(x.shape) for n, x in answers.items()}

    def inputs(self, case: Any, rng: np.random.Generator, draw: Draw) -> list[Any]:
        """Call the text's own `get_inputs`, whose random numbers come from `rng` and `draw`."""
        constants = {name: evaluate(expression, case.dims) for name, expression in self.sizes.items()}
        kind = DoubleArray if self.draws_double else SingleArray
        space = working_space(self.text, constants, kind, np.dtype(kind.real_type), RandomDraws(rng, draw))
        return [np.asarray(kind.plain(value)) for value in space["get_inputs"]()]

    def _answers(self, inputs: Mapping[str, Array], case: Any, kind: type[WorkingArray]) -> dict[str, Array]:
        constants = {name: evaluate(expression, case.dims) for name, expression in self.sizes.items()}
        function = working_space(self.text, constants, kind, precise_of(inputs.values()))[self.function]
        given = {name: working_input(x, kind) for name, x in inputs.items()}
        filled = [stated[1:] for stated in self.arguments if stated[0] == "filled"]
        for name, dtype, extents in filled:
            shape = [evaluate(str(n), case.dims) for n in extents]
            given[name] = working_input(np.zeros(shape, numpy_dtype(dtype)), kind)
        with np.errstate(all="ignore"):
            result = function(*(argument(a, given, case.dims) for a in self.arguments))
        updates = {**self.updates, **{name: name for name, _, _ in filled}}
        values = answers_of(result, list(self.outputs), updates, given)
        return {name: np.asarray(kind.plain(values[name])) for name in self.outputs}


def argument(stated: tuple[Any, ...], given: Mapping[str, Any], dims: Mapping[str, int]) -> Any:
    """Return the value of one of the function's arguments."""
    kind, value, *_ = stated
    if kind in ("input", "filled"):
        return given[value]
    return evaluate(str(value), dims) if kind == "size" else value


def precise_of(arrays: Any) -> np.dtype[Any]:
    """Return the floating type that a text's `finfo` is of: float64 only where an input is."""
    is_double = any(array.dtype == np.float64 for array in arrays)
    return np.dtype(np.float64 if is_double else np.float32)


def working_input(array: Array, kind: type[WorkingArray]) -> WorkingArray:
    """Copy an input, in the working type where it is a floating one: the function may write into it."""
    return np.array(array, kind.dtype_of(array.dtype)).view(kind)


def answers_of(
    result: Any, names: Sequence[str], updates: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Name the results in their order; those that the function wrote into inputs and did not return are taken there."""
    returned = results_of(result)
    values = [value for value in returned if not any(value is given[n] for n in updates.values())]
    free = [name for name in names if name not in updates]
    if len(values) != len(free):  # all are returned, the updated ones as new arrays
        values, free = returned, list(names)
    if len(values) != len(free):
        raise ValueError(f"it returns {len(values)} values, and {len(free)} are expected: {', '.join(free)}")
    return {**{name: given[n] for name, n in updates.items()}, **dict(zip(free, values, strict=True))}


def results_of(result: Any) -> list[Any]:
    """List the arrays and numbers of a tuple, a list or a mapping, of others within it too; nothing for None."""
    if result is None:
        return []
    if isinstance(result, Mapping):
        return [value for part in result.values() for value in results_of(part)]
    if isinstance(result, (tuple, list)):
        return [value for part in result for value in results_of(part)]
    return [result]


def working_space(
    text: str, constants: Mapping[str, int], kind: type[WorkingArray], precise: np.dtype[Any], random: Any = None
) -> dict[str, Any]:
    """Execute the text with these constants, in which all floating types are one; return its names."""
    return executed(text, constants, lambda module: WorkingModule(module, kind, precise, random))


def executed(text: str, constants: Mapping[str, int], stand_in: StandIn) -> dict[str, Any]:
    """Execute the text with other constants, and with what stands in for NumPy; return its names."""
    code = _compiled(text, tuple(constants.items()))
    module = sys.modules[MODULE] = types.ModuleType(MODULE)  # dataclasses look their own module up there
    space = module.__dict__
    space["__builtins__"] = {**vars(builtins), "__import__": importing(stand_in)}
    space["__file__"] = PATH
    linecache.cache[PATH] = (len(text), None, text.splitlines(True), PATH)
    exec(code, space)
    return space


@lru_cache(maxsize=64)
def _compiled(text: str, constants: tuple[tuple[str, int], ...]) -> types.CodeType:
    tree = replaced(ast.parse(text.removeprefix(BYTE_ORDER)), dict(constants))
    return compile(tree, PATH, "exec")
