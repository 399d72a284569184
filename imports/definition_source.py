"""A definition of FlashInfer-Bench with its workloads. In the import's own process only."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from imports.foreign_text import executed, parsed
from imports.listed_cases import ListedCases, is_size, listed
from imports.refusal import ImportRefused
from imports.source_file import SEED, Instance, TorchSource

TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "bool": torch.bool,
}
WHOLE = ("int64", "int32", "int16", "int8")


@dataclass(frozen=True)
class DefinitionSource(TorchSource):
    """`text` is the definition, `more` its workloads, a line of JSON each."""

    more: str = ""

    @cached_property
    def _definition(self) -> Mapping[str, Any]:
        definition = _object(self.path, self.text)
        for name, kind in (("name", str), ("axes", dict), ("inputs", dict), ("outputs", dict), ("reference", str)):
            if not isinstance(definition.get(name), kind):
                raise ImportRefused(f"{self.path} is no definition of FlashInfer-Bench: it has no {name}")
        axes = definition["axes"]
        for role in ("inputs", "outputs"):
            for name, spec in definition[role].items():
                _check_tensor(name, spec, axes)
        return definition

    @cached_property
    def _listed(self) -> ListedCases:
        axes, rows = self._definition["axes"], []
        fixed = {n: a.get("value") for n, a in axes.items() if a.get("type") == "const"}
        for entry in self._entries:
            scalars = {
                n: workload_input.get("value")
                for n, workload_input in entry["inputs"].items()
                if workload_input.get("type") == "scalar"
            }
            typed = {n: self._scalar(n, v) for n, v in scalars.items()}
            rows.append({**{n: entry["axes"].get(n, fixed.get(n)) for n in axes}, **typed})
        free = [n for n in axes if n not in fixed]
        has_scalars = any(spec.get("shape") is None for spec in self._definition["inputs"].values())
        if not rows and (self.sizes or not (free or has_scalars)):
            rows = [{**fixed, **self.sizes}]
        if not rows:
            raise ImportRefused(
                f"there are no workloads for it: put workloads/.../{self._definition['name']}.jsonl beside its folder "
                f"definitions{', or give --size ' if free else ''}{','.join(f'{n}=128' for n in free)}"
            )
        for row in rows:
            missing = [n for n in axes if not is_size(row.get(n))]
            if missing:
                raise ImportRefused(f"a workload of it gives no size to the axis {missing[0]}")
        missing = [n for n, s in self._definition["inputs"].items() if s.get("shape") is None and n not in rows[0]]
        if missing:
            raise ImportRefused(f"its workloads give no value to the scalar {missing[0]}")
        return listed(rows, "its workloads")

    def _scalar(self, name: str, value: Any) -> Any:
        spec = self._definition["inputs"].get(name)
        if spec is None or spec.get("shape") is not None:
            raise ImportRefused(f"a workload of it gives a scalar for {name}, which is none")
        if isinstance(value, (int, float)) and not isinstance(value, bool) and spec["dtype"].startswith(("f", "bf")):
            return float(value)
        return [value]  # a whole number that is no size: the same in all cases

    @cached_property
    def _entries(self) -> list[Mapping[str, Any]]:
        workloads = list[Mapping[str, Any]]()
        for line in filter(str.strip, self.more.splitlines()):
            row = _object("its workloads", line)
            work = row.get("workload")
            if row.get("definition") != self._definition["name"] or not isinstance(work, dict):
                continue
            if not isinstance(work.get("axes"), dict) or not isinstance(work.get("inputs"), dict):
                raise ImportRefused("a workload of it has no axes or inputs")
            workloads.append(work)
        stored = {n for w in workloads for n, g in w["inputs"].items() if g.get("type") == "safetensors"}
        for name in sorted(stored):
            if self._definition["inputs"].get(name, {}).get("dtype") in WHOLE:
                raise ImportRefused(
                    f"its workloads store the whole numbers of {name} in files, and a task has to draw new ones"
                )
        return workloads

    def constants(self) -> dict[str, int]:
        """All axes, as the largest workload has them."""
        return self._listed.sizes

    def scalars(self) -> Mapping[str, float]:
        """Return the real scalars of the largest workload."""
        return self._listed.scalars

    def cases(self) -> Sequence[Mapping[str, float]]:
        """List the workloads."""
        return self._listed.numbers

    def notes(self) -> Sequence[str]:
        """Sentences about what was left out."""
        stored = sorted({n for w in self._entries for n, g in w["inputs"].items() if g.get("type") == "safetensors"})
        more = [f"{name} has new values here, where the workloads store some" for name in stored]
        return [*self._listed.notes, *more]

    def build(self, constants: Mapping[str, Any]) -> Instance:
        """Build the function `run` with these axes."""
        definition, inputs = self._definition, self._definition["inputs"]
        fixed = {a["value"] for a in definition["axes"].values() if a.get("type") == "const"}
        space = executed(
            "reference",
            definition["reference"],
            _Unasserted(fixed).visit(parsed("its reference", definition["reference"])),
        )
        run = space.get("run")
        if not callable(run):
            raise ImportRefused("its reference has no function run")
        values = {**{n: v[0] if isinstance(v, list) else v for n, v in self._listed.others.items()}, **constants}

        def draw() -> tuple[Any, ...]:
            return tuple(
                values[n] if s.get("shape") is None else _drawn(s["dtype"], [values[a] for a in s["shape"]])
                for n, s in inputs.items()
            )

        torch.manual_seed(SEED)
        shapes = {n: [values[a] for a in s.get("shape") or []] for n, s in definition["outputs"].items()}
        call = _called(run, shapes)
        return Instance(call, {}, {}, draw(), tuple(inputs), draw, tuple(definition["outputs"]))


def _called(run: Callable[..., Any], outputs: Mapping[str, list[int]]) -> Callable[..., Any]:
    """Hold the function to the names and shapes of the outputs."""

    def call(state: Mapping[str, Any], arguments: tuple[Any, ...]) -> Any:
        results = run(*arguments)
        results = (
            [results[n] for n in outputs] if isinstance(results, dict) and set(results) == set(outputs) else results
        )
        count = len(results) if isinstance(results, (list, tuple)) else 1
        if count != len(outputs):
            raise ImportRefused(f"its reference returns {count} values, and the definition has {len(outputs)} outputs")
        for value, (name, shape) in zip(
            results if isinstance(results, (list, tuple)) else [results], outputs.items(), strict=True
        ):
            if isinstance(value, torch.Tensor) and list(value.shape) != shape:
                raise ValueError(f"{name} has the shape {tuple(value.shape)}, where the definition says {tuple(shape)}")
        return results

    return call


def _object(path: str, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ImportRefused(f"{path} holds no object")
    return document


def _check_tensor(name: str, spec: Any, axes: Mapping[str, Any]) -> None:
    if not isinstance(spec, dict) or spec.get("dtype") not in TYPES:
        kind = spec.get("dtype") if isinstance(spec, dict) else spec
        raise ImportRefused(f"its tensor {name} is {kind}, which tasks do not have")
    unknown = [a for a in spec.get("shape") or [] if not isinstance(axes.get(a), dict)]
    if unknown:
        raise ImportRefused(f"the shape of {name} has {unknown[0]}, which is no axis of it")


def _drawn(dtype: str, shape: list[int]) -> torch.Tensor:
    """Draw the numbers that FlashInfer-Bench draws."""
    if dtype == "bool":
        return torch.randint(0, 2, shape).to(torch.bool)
    if dtype in WHOLE:
        low, high = (-128, 128) if dtype == "int8" else (-1024, 1024)
        return torch.randint(low, high, shape).to(TYPES[dtype])
    numbers = torch.randn(shape)
    return (numbers.clamp(-2, 2) if dtype.startswith("float8") else numbers).to(TYPES[dtype])


class _Unasserted(ast.NodeTransformer):
    """Without the assertions that an axis has its constant value: other values of it are tried."""

    def __init__(self, fixed: set[int]) -> None:
        self._fixed = fixed

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """Nothing, where it asks for such a value."""
        constants = {n.value for n in ast.walk(node.test) if isinstance(n, ast.Constant)}
        return ast.copy_location(ast.Pass(), node) if constants & self._fixed else node
