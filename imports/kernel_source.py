"""A function that says what the kernels of a HIP file compute, on the buffers of its host half.

In the import's own process only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from imports.import_source import length_of
from imports.refusal import ImportRefused
from imports.source_file import SEED, Instance, TorchSource
from tasks.expressions import evaluate

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
MOSTS = (1 << 15, 100, 2)
PART = 3  # tests have at most this part of the file's own sizes: no kernel promises more than those


@dataclass(frozen=True)
class KernelSource(TorchSource):
    """`text` is the reference; `specs` are the inputs in the order of its arguments."""

    kernel: str = ""  # the HIP file
    parameters: Sequence[Sequence[Any]] = ()  # of the function: ("input", name) or ("number", value)
    results: Sequence[Sequence[str]] = ()  # name, type, elements, and the input that it updates or ""
    multiples: Mapping[str, int] = field(default_factory=dict)
    scalars_vary: bool = True  # else the real numbers stay as the file has them

    def constants(self) -> dict[str, int]:
        """Return the sizes of the host half."""
        return dict(self.sizes)

    def scalars(self) -> Mapping[str, float]:
        """Return the real numbers that the reference takes."""
        return super().scalars() if self.scalars_vary else {}

    def limits(self) -> Mapping[str, int]:
        """Return the limits: a part of the file's own sizes."""
        return {n: max(1, v // PART) for n, v in self.sizes.items()}

    def original(self) -> str:
        """Return the HIP file."""
        return self.kernel

    def build(self, constants: Mapping[str, Any]) -> Instance:
        """Build the function for these sizes; ValueError for sizes that the file does not serve."""
        for name, step in self.multiples.items():
            if constants[name] % step:
                raise ValueError(f"{name} must be a multiple of {step}")
        function = self._target(self._executed({}))
        sizes = {n: int(constants[n]) for n in self.sizes}
        shapes = {n: [evaluate(text, sizes) for text in shape] for n, (_, shape, _) in self.specs.items()}

        if min([n for shape in shapes.values() for n in shape] + self._counts(sizes), default=1) < 1:
            raise ValueError("a tensor would have no elements")

        def draw() -> tuple[torch.Tensor, ...]:
            return tuple(
                _drawn(kind, shapes[name], most, length_of(limit, sizes) if limit else 0)
                for name, (kind, _, limit) in self.specs.items()
            )

        def call(state: Mapping[str, Any], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
            inputs = dict(zip(self.specs, arguments, strict=True))
            numbers = {**self.numbers, **constants, **sizes}
            result = function(*(self._argument(kind, value, inputs, numbers) for kind, value in self.parameters))
            return self._results(result, inputs, sizes)

        for most in MOSTS:  # of whole numbers: small ones where they are places in other inputs
            try:
                call({}, draw())
                break
            except (IndexError, RuntimeError):
                if most == MOSTS[-1]:
                    raise
        torch.manual_seed(SEED)
        outputs = tuple(name for name, _, _, _ in self.results)
        return Instance(call, {}, {}, draw(), tuple(self.specs), draw, outputs)

    def _counts(self, sizes: Mapping[str, int]) -> list[int]:
        """Count the elements of each result whose number the host half says."""
        return [evaluate(count, sizes) for _, _, count, _ in self.results if count]

    @staticmethod
    def _argument(kind: str, value: Any, inputs: Mapping[str, Any], numbers: Mapping[str, Any]) -> Any:
        if kind == "input":
            return inputs[value]
        if kind == "real":
            return numbers[value]
        return evaluate(value, numbers) if kind == "size" else value

    def _results(self, result: Any, inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, torch.Tensor]:
        titles = [name.removeprefix("new_") if updated else name for name, _, _, updated in self.results]
        if isinstance(result, dict):
            result = [result[t] for t in titles] if set(result) == set(titles) else list(result.values())
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(self.results):
            names = ", ".join(name for name, _, _, _ in self.results)
            raise ImportRefused(f"its reference returns {len(values)} values; the file's outputs are {names}")
        tensors = {}
        for value, (name, kind, count, updated) in zip(values, self.results, strict=True):
            tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
            if count and tensor.numel() != evaluate(count, sizes):
                raise ImportRefused(
                    f"its reference returns {tensor.numel()} elements for {name}, which has {evaluate(count, sizes)}; "
                    "give the shapes of inputs with --input where they are other ones"
                )
            tensor = tensor.reshape(1) if tensor.ndim == 0 else tensor
            is_double = tensor.dtype == torch.float64 and any(t.dtype == torch.float64 for t in inputs.values())
            tensor = tensor if is_double and kind.startswith(("f", "b")) and kind != "bool" else tensor.to(TYPES[kind])
            if updated:
                inputs[updated].copy_(tensor.reshape(inputs[updated].shape))
                tensor = inputs[updated]
            tensors[name] = tensor
        return tensors


def _drawn(dtype: str, shape: list[int], most: int, limit: int) -> torch.Tensor:
    if dtype == "bool":
        return torch.randint(0, 2, shape).to(torch.bool)
    if limit:
        return torch.randint(0, limit, shape).to(TYPES[dtype])
    if dtype in ("i8", "u8"):
        return torch.randint(-128 if dtype == "i8" else 0, 128 if dtype == "i8" else 256, shape).to(TYPES[dtype])
    if dtype in ("i16", "i32", "i64"):
        return torch.randint(0, min(most, 1 << 15), shape).to(TYPES[dtype])
    return torch.randn(shape).to(TYPES[dtype])
