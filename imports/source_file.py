"""A file of PyTorch, executed with some of its constants replaced. Runs in the import's own process only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from imports.foreign_text import executed
from imports.import_source import Source
from imports.laws import Laws
from imports.names import free_name, is_plain
from imports.refusal import ImportRefused
from tasks.file_sizes import entries, replaced

MOST_WEIGHT_BYTES = 2 << 30
SEED = 42
LAWS = " laws"  # of what a file drew while it was executed, among its names

NARROW = {"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16}  # drawn over all of their values
WHOLE = {**NARROW, "i32": torch.int32, "i64": torch.int64}


@dataclass(frozen=True)
class Instance:
    """The function for one set of constants, with its state and its arguments."""

    call: Callable[[Mapping[str, Any], tuple[Any, ...]], Any]  # state, arguments
    state: Mapping[str, torch.Tensor]
    laws: Mapping[str, str]  # of the state
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    redraw: Callable[[], tuple[Any, ...]] | None  # draws the arguments again
    outputs: tuple[str, ...] = ()  # their names, where the source has some
    hands_out: bool = False  # buffers for results may be among the arguments and stay unused


@dataclass(frozen=True)
class TorchSource(Source):
    """A file of PyTorch."""

    def build(self, constants: Mapping[str, Any]) -> Instance:
        """Execute the file with these constants; ImportRefused where it is no such file."""
        torch.manual_seed(SEED)
        with Laws() as recorded_laws:
            space = {**self._executed({} if self.specs else constants), LAWS: recorded_laws}
        if self.specs:
            return self._plain(space, constants)
        if callable(space.get("get_inputs")) and "Model" in space and not self.function:
            return instance_of(space["Model"], space, lambda: tuple(space["get_inputs"]()))
        if callable(space.get("get_inputs")):
            return self._with_inputs(space)
        raise ImportRefused(self._missing(space))

    def _executed(self, constants: Mapping[str, int]) -> dict[str, Any]:
        return executed(self.path, self.text, replaced(self.tree(), constants))

    def _target(self, space: Mapping[str, Any]) -> Any:
        own_names = _entry_names(space)
        if self.function:
            if self.function not in space:
                raise ImportRefused(
                    f"{self.path} has no {self.function}; it has {', '.join(own_names) or 'no functions'}"
                )
            return space[self.function]
        ends = own_names if len(own_names) == 1 else entries(self.tree(), own_names)
        if len(ends) != 1:
            raise ImportRefused(
                f"{self.path} has {', '.join(own_names) or 'no function or module'}: name one with FILE:FUNCTION"
            )
        return space[ends[0]]

    def _missing(self, space: Mapping[str, Any]) -> str:
        target = self._target(space)
        function = getattr(target, "forward", target)
        names = [n for n in inspect.signature(function).parameters if n != "self"]
        example = " ".join(f"--input {n}=f32[rows,cols]" for n in names)
        return (
            f"{self.path} does not say which inputs it takes: add a function get_inputs() to it, or give "
            f"{example} --size rows=4096,cols=4096"
        )

    def _with_inputs(self, space: Mapping[str, Any]) -> Instance:
        target = self._target({k: v for k, v in space.items() if k not in ("get_inputs", "get_init_inputs")})
        return instance_of(target, space, lambda: tuple(space["get_inputs"]()))

    def _plain(self, space: Mapping[str, Any], sizes: Mapping[str, Any]) -> Instance:
        def draw() -> tuple[Any, ...]:
            return tuple(_drawn(*spec) for spec in self.specified(sizes).values())

        numbers = {n: sizes.get(n, v) for n, v in self.numbers.items()}
        return instance_of(self._target(space), space, draw, tuple(self.specs), numbers)


def _drawn(dtype: str, shape: list[int], limit: int) -> torch.Tensor:
    if dtype == "bool":
        return torch.randint(0, 2, shape).to(torch.bool)
    if limit:
        return torch.randint(0, limit, shape).to(WHOLE[dtype])
    if dtype in ("i32", "i64"):
        return torch.randint(0, 100, shape).to(WHOLE[dtype])
    if dtype in NARROW:
        kind = NARROW[dtype]
        return torch.randint(torch.iinfo(kind).min, torch.iinfo(kind).max + 1, shape).to(kind)
    kinds = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
    return torch.randn(shape).to(kinds[dtype])


def instance_of(
    target: Any,
    space: Mapping[str, Any],
    draw: Callable[[], tuple[Any, ...]],
    names: tuple[str, ...] = (),
    numbers: Mapping[str, float] | None = None,
) -> Instance:
    """One of a module's class or of a function, with the arguments that `draw` gives, and numbers by their names."""
    laws: dict[str, str] = {}
    state: dict[str, torch.Tensor] = {}
    torch.manual_seed(SEED)
    if inspect.isclass(target):
        init_inputs = space["get_init_inputs"]() if callable(space.get("get_init_inputs")) else []
        torch.manual_seed(SEED)
        with Laws() as recorded_laws:
            module: Any = target(*init_inputs) if isinstance(init_inputs, (list, tuple)) else target(**init_inputs)
        function, (state, laws) = module.forward, _state(module, recorded_laws)
    elif isinstance(target, torch.nn.Module):
        module, function, (state, laws) = target, target.forward, _state(target, space[LAWS])
    else:
        module, function = None, target
    given = _binding(function, names, numbers or {})

    def call(state: Mapping[str, Any], arguments: tuple[Any, ...]) -> Any:
        positional, named = given(arguments)
        if module is None:
            return target(*positional, **named)
        return torch.func.functional_call(module, dict(state), positional, named)

    torch.manual_seed(SEED)
    arguments = draw()
    if not names:
        parameters = [n for n in inspect.signature(function).parameters if n != "self"]
        names = tuple(parameters[: len(arguments)]) if len(parameters) >= len(arguments) else ()
        names = names or tuple(f"x{i}" for i in range(len(arguments)))
    plain = [n if is_plain(n) else f"x{i}" for i, n in enumerate(names)]
    return Instance(call, state, laws, arguments, tuple(free_name(n, ()) for n in plain), draw)


def _state(module: torch.nn.Module, laws: Laws) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Weights and buffers by name, and the laws that they were drawn by."""
    state = {n: t.detach() for n, t in (*module.named_parameters(), *module.named_buffers())}
    if sum(t.numel() * t.element_size() for t in state.values()) > MOST_WEIGHT_BYTES:
        raise ImportRefused(f"its weights take more than {MOST_WEIGHT_BYTES >> 30} GiB")
    return state, {n: laws.law(t) for n, t in state.items()}


def _binding(
    function: Any, names: tuple[str, ...], numbers: Mapping[str, float]
) -> Callable[[tuple[Any, ...]], tuple[tuple[Any, ...], dict[str, Any]]]:
    """Give the way from tensors to arguments: by name where the function has all the names, else in their order."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return lambda tensors: (tensors, dict(numbers))
    if not names or not all(n in signature.parameters for n in (*names, *numbers)):
        return lambda tensors: (tensors, {n: v for n, v in numbers.items() if n in signature.parameters})

    def bound(tensors: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        arguments = signature.bind(**dict(zip(names, tensors, strict=True)), **numbers)
        return arguments.args, arguments.kwargs

    return bound


def _entry_names(space: Mapping[str, Any]) -> list[str]:
    """Names of the functions and modules' classes of the file; of modules that it made where it has none of these."""
    names = [n for n in space if not n.startswith("_")]
    stated = [n for n in names if getattr(space[n], "__module__", "") == "imported" and _is_stated(space[n])]
    return stated or [n for n in names if isinstance(space[n], torch.nn.Module)]


def _is_stated(value: Any) -> bool:
    return inspect.isfunction(value) or (inspect.isclass(value) and issubclass(value, torch.nn.Module))
