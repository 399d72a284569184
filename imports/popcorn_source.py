"""A task folder of GPU MODE's boards: `generate_input` and `ref_kernel`, with the cases of task.yml.

In the import's own process only.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from imports.foreign_text import Neighbours, executed, parsed
from imports.listed_cases import ListedCases, listed
from imports.refusal import ImportRefused
from imports.source_file import SEED, Instance, TorchSource

MATCHER = "make_match_reference"
DEFAULTS = {"rtol": 1e-5, "atol": 1e-8}  # of the matcher


@dataclass(frozen=True)
class PopcornSource(TorchSource):
    """`text` is reference.py, `modules` the other Python files by module, `listing` the cases of task.yml."""

    modules: Mapping[str, str] = field(default_factory=dict)
    listing: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # by role

    @cached_property
    def _space(self) -> Mapping[str, Any]:
        Neighbours(self.modules)
        space = executed(self.path, self.text)
        for name in ("generate_input", "ref_kernel"):
            if not callable(space.get(name)):
                raise ImportRefused(f"{self.path} is no reference of GPU MODE's: it has no {name}")
        return space

    @cached_property
    def _listed(self) -> ListedCases:
        parameters = inspect.signature(self._space["generate_input"]).parameters
        if "rank" in parameters or "world_size" in parameters:
            raise ImportRefused("it is for several GPUs at once, and a task has one")
        rows = [{n: v for n, v in case.items() if n != "seed"} for case in self._all]
        count = len(self.listing["benchmarks"]) or len(rows)
        return listed(rows[:count], "task.yml", rows[count:])

    @property
    def _all(self) -> list[Mapping[str, Any]]:
        return [*self.listing["benchmarks"], *self.listing["tests"]]

    def constants(self) -> dict[str, int]:
        """Return the sizes of the largest case."""
        return self._listed.sizes

    def scalars(self) -> Mapping[str, float]:
        """Return the real values of the largest case."""
        return self._listed.scalars

    def cases(self) -> Sequence[Mapping[str, float]]:
        """List the benchmarks."""
        return self._listed.numbers

    def tests(self) -> Sequence[Mapping[str, float]]:
        """The tests."""
        return self._listed.more or self._listed.numbers

    def notes(self) -> Sequence[str]:
        """Sentences about what was left out."""
        has_check = any(isinstance(n, ast.FunctionDef) and n.name == "check_implementation" for n in self._tree_body)
        more = (
            ["its own check_implementation is not carried over: a kernel is judged by its error"] if has_check else []
        )
        return [*self._listed.notes, *more]

    @property
    def _tree_body(self) -> list[ast.stmt]:
        return parsed(self.path, self.text).body

    def arguments(self) -> Sequence[str]:
        """List the names of the parts of the data."""
        return self.build({**self.constants(), **self._smallest}).names

    @property
    def _smallest(self) -> Mapping[str, Any]:
        return self._listed.numbers[-1]

    def gate(self) -> tuple[float, float] | None:
        """Return the tolerances that the reference gives its matcher."""
        for node in ast.walk(parsed(self.path, self.text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == MATCHER:
                options = {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
                options |= {
                    n: a.value for n, a in zip(DEFAULTS, node.args[1:], strict=False) if isinstance(a, ast.Constant)
                }
                values = {n: options.get(n, value) for n, value in DEFAULTS.items()}
                rtol, atol = values["rtol"], values["atol"]
                if isinstance(rtol, (int, float)) and isinstance(atol, (int, float)):
                    return float(rtol), float(atol)
        return None

    def build(self, constants: Mapping[str, Any]) -> Instance:
        """`ref_kernel` on the data of this case."""
        space, values = self._space, {**self._listed.others, **constants}
        seed = {"seed": SEED} if any("seed" in case for case in self._all) else {}

        def draw() -> Any:
            torch.manual_seed(SEED)
            return space["generate_input"](**values, **seed)

        data = draw()
        arguments = tuple(_leaves(data))
        names = self._names(data, len(arguments))

        def call(state: Mapping[str, Any], parts: tuple[Any, ...]) -> Any:
            result = space["ref_kernel"](_filled(data, iter(parts)))
            return list(_leaves(result)) if isinstance(result, (tuple, list, dict)) else result

        return Instance(call, {}, {}, arguments, names, lambda: tuple(_leaves(draw())), hands_out=True)

    def _names(self, data: Any, count: int) -> tuple[str, ...]:
        """Find the names that ref_kernel takes the parts of its data apart by."""
        for node in ast.walk(parsed(self.path, self.text)):
            if isinstance(node, ast.FunctionDef) and node.name == "ref_kernel" and node.args.args:
                data_name = node.args.args[0].arg
                for statement in ast.walk(node):
                    if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)):
                        continue
                    names = [n.id for n in statement.targets[0].elts if isinstance(n, ast.Name)]
                    is_whole = len(set(names)) == count and "_" not in names
                    if isinstance(statement.value, ast.Name) and statement.value.id == data_name and is_whole:
                        return tuple(names)
        return ("x",) if isinstance(data, torch.Tensor) else tuple(f"x{i}" for i in range(count))


def _leaves(data: Any) -> Iterator[Any]:
    """Yield the parts of tuples, lists and dictionaries in their order."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (tuple, list)):
        for part in data:
            yield from _leaves(part)
    else:
        yield data


def _filled(data: Any, parts: Iterator[Any]) -> Any:
    """Build the same structure with other parts."""
    if isinstance(data, dict):
        return {n: _filled(v, parts) for n, v in data.items()}
    if isinstance(data, tuple):
        filled = [_filled(v, parts) for v in data]
        return type(data)(*filled) if hasattr(data, "_fields") else tuple(filled)
    if isinstance(data, list):
        return [_filled(v, parts) for v in data]
    return next(parts)
