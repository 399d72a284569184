"""Kernels in the place of regions of a model's graph: a backend of torch.compile, and `apply`, which uses it.

Nothing is patched: the model stays as it is, and what `apply` returns shares its weights. A region is replaced where
the pattern stands in the graph and device, types, shapes and strides are those that the kernel was verified with;
everywhere else the model's own operators run. `report` says each place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode

from exports.models.package.graphs import traced
from exports.models.package.operators import DEVICE, PlacedKernel, facts, kernels, refusal
from exports.models.package.replacing import Replacing

EAGER = "eager"
_UNTRACED = (RuntimeError, TypeError, ValueError, AttributeError, LookupError, NotImplementedError, AssertionError)


@dataclass(frozen=True)
class ReportedSite:
    """One place in a graph where a kernel's region stands; an empty reason where the kernel is used."""

    kernel: str
    graph: int
    reason: str


@dataclass
class Report:
    """The places found so far, in every graph that was compiled."""

    names: tuple[str, ...]
    graphs: int = 0
    places: list[ReportedSite] = field(default_factory=list)
    untraced: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Count the places with each kernel and those where the model's own operators stay."""
        return {
            name: {
                "replaced": sum(p.kernel == name and not p.reason for p in self.places),
                "kept": sum(p.kernel == name and bool(p.reason) for p in self.places),
            }
            for name in self.names
        }

    @property
    def reasons(self) -> dict[str, tuple[str, ...]]:
        """List why places of each kernel keep the model's operators."""
        return {
            n: tuple(dict.fromkeys(p.reason for p in self.places if p.kernel == n and p.reason)) for n in self.names
        }

    def __str__(self) -> str:
        rows = []
        for name, count in self.counts.items():
            if not any(count.values()):
                rows.append(f"{name}: found nowhere in {self.graphs} graphs")
                continue
            rows.append(f"{name}: used in {count['replaced']} places, not in {count['kept']}")
            rows += [f"  not where {reason}" for reason in self.reasons[name]]
        rows += [f"a graph stays as it is: {reason}" for reason in self.untraced]
        return "\n".join(rows) or "no kernel is switched on"


class Backend:
    """A backend of torch.compile that replaces regions, then runs the graph as it is or has it compiled.

    `compiler` is `eager`, `inductor`, or one of Inductor's modes, such as `max-autotune`.
    """

    def __init__(self, without: Iterable[str] = (), kernels_from: str = DEVICE, compiler: str = EAGER) -> None:
        """Load all kernels but those `without`; ValueError for a name that the package does not have."""
        loaded = kernels(kernels_from)
        left_out = set(without)
        if unknown := sorted(left_out - {kernel.name for kernel in loaded}):
            raise ValueError(f"there is no kernel {unknown[0]}; there are {', '.join(k.name for k in loaded)}")
        self.kernels = [kernel for kernel in loaded if kernel.name not in left_out]
        self._is_on_gpu, self._facts = kernels_from == DEVICE, facts()
        self._finish = _finishing(compiler)
        self.report = Report(tuple(kernel.name for kernel in self.kernels))

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """Compile one graph of torch.compile."""
        self.report.graphs += 1
        try:
            replaced = self._replaced(graph, inputs)
        except _UNTRACED as error:
            self.report.untraced.append(" ".join(f"{type(error).__name__}: {error}".split())[:300])
            replaced = graph
        return self._finish(replaced, inputs)

    def _replaced(self, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        if not self.kernels:
            return graph
        if not all(isinstance(tensor, torch.Tensor) for tensor in inputs):
            raise ValueError("its sizes change from call to call: compile it with dynamic=False")
        mode = detect_fake_mode(inputs) or FakeTensorMode()
        with mode:
            fakes = [mode.from_tensor(tensor, static_shapes=True) for tensor in inputs]
            plain = traced(lambda *tensor: torch.fx.Interpreter(graph).run(*tensor), fakes)
        replacing = Replacing(plain, fakes)
        refused = [site for kernel in self.kernels for site in self._place(kernel, replacing)]
        self.report.places += [site for site, node in refused if replacing.is_read(node)]  # else another kernel serves
        return replacing.finished()

    def _place(self, kernel: PlacedKernel, replacing: Replacing) -> list[tuple[ReportedSite, torch.fx.Node]]:
        """Put one kernel into the graph; the sites where it must not stand, each with a result of the region."""
        refused = list[tuple[ReportedSite, torch.fx.Node]]()
        for match in kernel.pattern.matches(replacing.graph):
            values = [node.meta.get("val") for node in match.inputs]
            reason = refusal(self._facts, values[0].device) if self._is_on_gpu else ""
            reason = reason or replacing.replace(kernel, match, values)
            site = ReportedSite(kernel.name, self.report.graphs, reason)
            if reason:
                refused.append((site, match.outputs[-1]))
            else:
                self.report.places.append(site)
        return refused


def _finishing(compiler: str) -> Callable[[torch.fx.GraphModule, Sequence[Any]], Callable[..., Any]]:
    if compiler == EAGER:
        return lambda graph, inputs: graph.forward
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    modes = list_mode_options()
    if compiler != "inductor" and compiler not in modes:
        raise ValueError(f"the compiler may be eager, inductor or one of {', '.join(modes)}, not {compiler!r}")
    options = dict(modes.get(compiler, {}))
    return lambda graph, inputs: compile_fx(graph, list(inputs), config_patches=options)


def backend(without: Iterable[str] = (), kernels: str = DEVICE, compiler: str = "inductor") -> Backend:
    """Make a backend: `torch.compile(model, backend=PACKAGE.backend())`."""
    return Backend(without, kernels, compiler)


def apply(
    model: Any,
    *,
    without: Iterable[str] = (),
    kernels: str = DEVICE,
    compiler: str = EAGER,
    dynamic: bool | None = False,
) -> Any:
    """Return the model with the kernels in it; it shares its weights with the one given, which stays as it is.

    `kernels="lab"` executes them on tensors of the processor, which takes seconds a call; `kernels="original"` runs the
    model's own operators in their place, to see where they stand. Under torch.compile the
    result is one operator among others; to have the whole model compiled, give `compiler="inductor"`.
    """
    chosen = Backend(without, kernels, compiler)
    is_module = isinstance(model, torch.nn.Module)
    compiled = torch.compile(model.forward if is_module else model, backend=chosen, dynamic=dynamic)

    def forward(*arguments: Any, **named: Any) -> Any:
        return compiled(*arguments, **named)

    # Another torch.compile around this one would compile the model's own forward and lose the kernels.
    forward = torch.compiler.disable(forward, recursive=False)
    if not is_module:
        vars(forward)["kernel_report"] = chosen.report
        return forward
    applied = copy.copy(model)
    object.__setattr__(applied, "forward", forward)
    object.__setattr__(applied, "kernel_report", chosen.report)
    return applied


def report(applied: Any) -> Report:
    """Tell where kernels are used in what `apply` gave; print it, or read its `counts` and `reasons`."""
    found = getattr(applied, "kernel_report", None)
    if not isinstance(found, Report):
        raise TypeError("report takes what apply has returned")
    return found
