"""A function of PyTorch on the arrays of a task, while its answers are recorded. In the import's own process only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from imports.graph import Graph, Tensor
from imports.refusal import ImportRefused
from imports.results import results_of
from imports.sizing import Sizing
from imports.source_file import SEED, Instance, TorchSource
from imports.traced_graph import DTYPES
from tasks.dtypes import Array, numpy_dtype
from tasks.task import Case


@dataclass(frozen=True)
class Observed:
    """The tensors of one instance: `inputs` of them are given, the others are results; ranges of what it draws."""

    tensors: tuple[Tensor, ...]
    inputs: int
    ranges: Mapping[str, tuple[float, float]]


def observed(instance: Instance) -> Observed:
    """Call it twice; ImportRefused where it gives no tensors, or others the second time."""
    torch.manual_seed(SEED)
    first, second = _evaluated(instance, False), _evaluated(instance, False)  # what draws numbers draws others
    for (name, a, _), (_, b, _) in zip(first, second, strict=True):
        if a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num()):
            raise ImportRefused(f"its result {name} differs from call to call, so it does not follow from its inputs")
    inputs = [*_weights(instance), *_arguments(instance)]
    ranges = {n: (float(t.min()), float(t.max())) for n, t in _arguments(instance) if t.numel()}
    laws = {f"w_{n.replace('.', '_')}": (n, instance.laws.get(n, "")) for n in instance.state}
    tensors = [
        Tensor(n, tuple(t.shape), _dtype(n, t), laws.get(n, ("", ""))[1], laws.get(n, ("", ""))[0]) for n, t in inputs
    ]
    tensors += [Tensor(n, tuple(t.shape), _dtype(n, t), initial=initial) for n, t, initial in first]
    return Observed(tuple(tensors), len(inputs), ranges)


def _dtype(name: str, tensor: torch.Tensor) -> str:
    dtype = DTYPES.get(tensor.dtype, "")
    if not dtype or dtype.startswith("e"):
        raise ImportRefused(f"answers of the type {tensor.dtype} of {name} are not recorded")
    return dtype


def _weights(instance: Instance) -> list[tuple[str, torch.Tensor]]:
    return [(f"w_{n.replace('.', '_')}", t) for n, t in instance.state.items()]


def _arguments(instance: Instance) -> list[tuple[str, torch.Tensor]]:
    pairs = zip(instance.names, instance.arguments, strict=True)
    return [(n, a) for n, a in pairs if isinstance(a, torch.Tensor)]


def _evaluated(instance: Instance, is_double: bool) -> list[tuple[str, torch.Tensor, str]]:
    """Name, value and the input that it updates, of each result; inputs stay as they are."""

    def copied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return value.double() if is_double and value.is_floating_point() else value.clone()

    state = {n: copied(t) for n, t in instance.state.items()}
    arguments = tuple(copied(a) for a in instance.arguments)
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
    with torch.no_grad():
        result = instance.call(state, arguments)
    values = results_of(result)
    titles = instance.outputs or (("y",) if len(values) == 1 else tuple(f"y{i}" for i in range(len(values))))
    changed = {
        id(a): n
        for n, a, b in zip(instance.names, arguments, before, strict=True)
        if isinstance(a, torch.Tensor) and not torch.equal(a.nan_to_num(), b.nan_to_num())
    }
    results = list[tuple[str, torch.Tensor, str]]()
    for title, value in zip(titles, values, strict=True):
        name = changed.pop(id(value), "")
        free_title = title if title not in instance.names else f"{title}_out"
        results.append((f"new_{name}" if name else free_title, value.reshape(value.shape or (1,)), name))
    by_id = {id(a): a for a in arguments}
    return results + [(f"new_{name}", by_id[identity], name) for identity, name in changed.items()]


@dataclass(frozen=True)
class LiveFunction:
    """The function for any of a task's cases, on arrays."""

    source: TorchSource
    original: Mapping[str, int]
    sizing: Sizing | None
    graph: Graph

    def reference(self, inputs: Mapping[str, Array], case: Case) -> dict[str, Array]:
        """Compute the answers in double precision; ImportRefused where it computes in a narrower type."""
        answers = self._answers(inputs, case, True)
        for name, array in answers.items():
            if array.dtype.kind == "f" and array.dtype != np.float64:
                raise ImportRefused(
                    f"it computes {name} in {array.dtype} whatever it is given; nothing says what is exact"
                )
        return {name: array.astype(np.float64) for name, array in answers.items()}

    def baseline(self, inputs: Mapping[str, Array], case: Case) -> dict[str, Array]:
        """Compute the answers in the function's own types."""
        types = {spec.name: spec.dtype for spec, _ in self.graph.outputs}
        return {n: a.astype(numpy_dtype(types[n])) for n, a in self._answers(inputs, case, False).items()}

    def starts(self, cases: Sequence[Mapping[str, int]]) -> dict[str, Array]:
        """Draw the weights as the module does, for the dims of each case."""
        arrays = {}
        for dims in cases if any(t.parameter for t in self.graph.inputs) else ():
            case_key = ",".join(f"{n}={v}" for n, v in dims.items())
            for name, tensor in _weights(self._built(dims)):
                arrays[f"{name}@{case_key}"] = tensor.float().numpy() if tensor.is_floating_point() else tensor.numpy()
        return arrays

    def _built(self, dims: Mapping[str, int]) -> Instance:
        constants = self.sizing.constants(dict(dims)) if self.sizing is not None else dims
        return self.source.build({**self.original, **constants})

    def _answers(self, inputs: Mapping[str, Array], case: Case, is_double: bool) -> dict[str, Array]:
        instance = self._built(case.dims)
        state = {n: _tensor(inputs[f"w_{n.replace('.', '_')}"]) for n in instance.state}
        pairs = zip(instance.names, instance.arguments, strict=True)
        arguments = tuple(_tensor(inputs[n]) if isinstance(a, torch.Tensor) else a for n, a in pairs)
        with_inputs = Instance(instance.call, state, instance.laws, arguments, instance.names, None, instance.outputs)
        return {name: _array(value) for name, value, _ in _evaluated(with_inputs, is_double)}


def _tensor(array: Array) -> torch.Tensor:
    array = np.array(array)
    if array.dtype == numpy_dtype("bf16"):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(tensor: torch.Tensor) -> Array:
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.contiguous().view(torch.int16).numpy()).view(numpy_dtype("bf16"))
    return np.array(tensor.contiguous().numpy())
