"""A task folder of robust-kbench: `forward_fn`, a Model that hands it the weights, and configurations.

In the import's own process only.
"""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from imports.foreign_text import executed
from imports.laws import Laws
from imports.listed_cases import ListedCases, listed
from imports.refusal import FAULTS, ImportRefused
from imports.source_file import MOST_WEIGHT_BYTES, SEED, Instance, TorchSource
from tasks.file_sizes import FROZEN

Space = Mapping[str, Any]


@dataclass(frozen=True)
class ConfigSource(TorchSource):
    """`text` is func_forward.py, `more` config_forward.json."""

    more: str = ""

    @cached_property
    def _space(self) -> Space:
        space = executed(self.path, self.text)
        for name in ("forward_fn", "Model", "get_inputs"):
            if not callable(space.get(name)):
                raise ImportRefused(f"{self.path} is no function of robust-kbench: it has no {name}")
        return space

    @cached_property
    def _listed(self) -> ListedCases:
        try:
            config = json.loads(self.more)
        except (ValueError, RecursionError) as error:
            raise ImportRefused(f"config_forward.json is not JSON: {error}") from None
        if not isinstance(config, dict):
            raise ImportRefused("config_forward.json holds no object")
        rows = [*self._rows(config, "single"), *self._rows(config, "multi")]
        return listed(rows, "config_forward.json")

    def _rows(self, config: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
        """Each configuration of inputs with each of the constructor; what both share wins."""
        parts = []
        for role in ("input", "init", "shared"):
            part = config.get(f"{kind}_{role}_configs") or [{}]
            if not isinstance(part, list) or not all(isinstance(p, dict) for p in part):
                raise ImportRefused(f"{kind}_{role}_configs in config_forward.json is no list of objects")
            parts.append(part)
        return [self._row(*row) for row in itertools.product(*parts)]

    def _row(
        self, input_arguments: Mapping[str, Any], init: Mapping[str, Any], shared: Mapping[str, Any]
    ) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for function, arguments in (
            (self._space["get_inputs"], input_arguments),
            (self._space["Model"].__init__, init),
        ):
            defaults = _defaults(function)
            unknown = [n for n in arguments if n not in defaults]
            if unknown:
                raise ImportRefused(f"config_forward.json gives {unknown[0]}, which the code does not take")
            for name, value in {**defaults, **arguments, **{n: v for n, v in shared.items() if n in defaults}}.items():
                if value is inspect.Parameter.empty:
                    raise ImportRefused(f"config_forward.json gives no value to {name}")
                if name in row and row[name] != _unsized(name, value):
                    raise ImportRefused(f"{name} has one value for the inputs and another for the constructor")
                row[name] = _unsized(name, value)
        return row

    def constants(self) -> dict[str, int]:
        """Return the sizes of the largest configuration."""
        return self._listed.sizes

    def cases(self) -> Sequence[Mapping[str, float]]:
        """All configurations, with the real arguments of `forward_fn` that each leads to."""
        sizes = self._listed.sizes
        return [{**{n: v for n, v in c.items() if n in sizes}, **self._reals(c)} for c in self._listed.numbers]

    def scalars(self) -> Mapping[str, float]:
        """Return the real arguments of `forward_fn` for the first configuration."""
        return self._first_reals

    @cached_property
    def _first_reals(self) -> Mapping[str, float]:
        return self._reals(self._listed.numbers[0])

    def _reals(self, case: Mapping[str, float]) -> Mapping[str, float]:
        """Found without memory for tensors of that size, where the code asks for no values of them."""
        try:
            with FakeTensorMode():
                bound, _ = self._bound(case)
        except (*FAULTS, ImportRefused):
            bound, _ = self._bound(case)
        return {n: v for n, v in bound.items() if isinstance(v, float)}

    def notes(self) -> Sequence[str]:
        """Sentences about what was left out."""
        return self._listed.notes

    def _bound(self, constants: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[torch.nn.Module, list[Any], Laws]]:
        """Give the arguments the Model hands to its function, by name; the Model, its inputs, the laws of weights."""
        space = self._space
        other_values = {n: v[0] if isinstance(v, list) else v for n, v in self._listed.others.items()}
        values = {**other_values, **self._listed.scalars, **constants}
        torch.manual_seed(SEED)
        with Laws() as laws:
            model = space["Model"](**_arguments_for(space["Model"].__init__, values))
        weights = sum(t.numel() * t.element_size() for t in (*model.parameters(), *model.buffers()))
        if weights > MOST_WEIGHT_BYTES:
            raise ImportRefused(f"its weights take more than {MOST_WEIGHT_BYTES >> 30} GiB")
        inputs = list(space["get_inputs"](**_arguments_for(space["get_inputs"], values)))
        calls: list[dict[str, Any]] = []
        signature, marker = inspect.signature(space["forward_fn"]), object()

        def record(*arguments: Any, **keywords: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            calls.append(dict(bound.arguments))
            return marker

        with torch.no_grad():
            try:
                result = model(*inputs, fn=record)
            except (TypeError, AttributeError, ValueError, LookupError, RuntimeError):
                if not calls:
                    raise
                result = None
        if result is not marker or len(calls) != 1:
            raise ImportRefused("its Model does more than to call its function once and to return the result")
        return calls[0], (model, inputs, laws)

    def build(self, constants: Mapping[str, Any]) -> Instance:
        """`forward_fn` with the arguments of this configuration."""
        bound, (model, inputs, laws) = self._bound({n: v for n, v in constants.items() if n in self._listed.sizes})
        bound = {n: constants.get(n, v) if isinstance(v, float) else v for n, v in bound.items()}
        state_ids = {id(t) for t in (*model.parameters(), *model.buffers())}
        state = {n: v.detach() for n, v in bound.items() if isinstance(v, torch.Tensor) and id(v) in state_ids}
        names = tuple(n for n in bound if n not in state)
        order = [next((i for i, t in enumerate(inputs) if t is bound[n]), None) for n in names]
        sizes = {n: v for n, v in constants.items() if n in self._listed.sizes}

        def redraw() -> tuple[Any, ...]:
            _, (_, drawn, _) = self._bound(sizes)
            return tuple(drawn[i] if i is not None else bound[n] for i, n in zip(order, names, strict=True))

        function = self._space["forward_fn"]

        def call(weights: Mapping[str, Any], arguments: tuple[Any, ...]) -> Any:
            return function(**weights, **dict(zip(names, arguments, strict=True)))

        is_direct = all(
            i is not None or not isinstance(bound[n], torch.Tensor) for i, n in zip(order, names, strict=True)
        )
        state_laws = {n: laws.law(t) for n, t in state.items()}
        return Instance(call, state, state_laws, tuple(bound[n] for n in names), names, redraw if is_direct else None)


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "self" and p.kind not in skipped}


def _arguments_for(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: values[n] for n in _defaults(function)}


def _unsized(name: str, value: Any) -> Any:
    """Put a whole number that is no size into a list."""
    return [value] if FROZEN.search(name.lower()) and isinstance(value, int) else value
