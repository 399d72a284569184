"""The check of an applied model: outputs first, then on a GPU the times of every mode, and what each kernel gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch

from exports.models.check.model_verdict import KernelEffect, ModelCheck, OutputCheck, forecast
from exports.models.check.outputs import compare
from exports.models.check.regions import region_times
from exports.models.check.speed import ROUNDS, Race, race
from exports.models.check.ways import GRAPH, PYTORCH, DeviceWindows, Ways, applied_ways, compiled, without_graph

LEAST_DRAWS = 20
MOST_WAYS = 256  # of one forward, each compiled for itself; beyond its limit torch.compile runs eagerly


@dataclass(frozen=True)
class Subject:
    """A model to check: how its inputs are drawn, and the package with its kernels."""

    name: str
    model: Any
    draw: Callable[[int], Sequence[Any]]
    package: ModuleType
    kernels: tuple[str, ...]
    kernels_from: str = "device"

    def applied(self, without: Sequence[str] = (), compiler: str = "eager") -> Any:
        """Return the model with the kernels but some."""
        return self.package.apply(self.model, without=without, kernels=self.kernels_from, compiler=compiler)


@dataclass(frozen=True)
class CheckRules:
    """How much is done."""

    draws: int = LEAST_DRAWS
    rounds: int = ROUNDS
    modes: tuple[str, ...] = tuple(PYTORCH)
    seed: int = 0


def check(subject: Subject, rules: CheckRules, say: Callable[[str], None]) -> ModelCheck:
    """Check the model; times only where its tensors are on a GPU."""
    say(f"comparing outputs on {rules.draws} draws")
    applied = subject.applied()
    outputs = compare(subject.model, applied, subject.draw, rules.draws)
    effects = _effects(subject, subject.package.report(applied))
    devices = {t.device for t in subject.draw(0) if isinstance(t, torch.Tensor)}
    if not outputs.right or all(device.type != "cuda" for device in devices):
        return ModelCheck(subject.name, "", outputs, effects, {}, {})
    with torch.no_grad(), torch._dynamo.config.patch(recompile_limit=MOST_WAYS):
        return _timed(subject, rules, outputs, effects, say)


def _effects(subject: Subject, report: Any) -> tuple[KernelEffect, ...]:
    rows = ((name, report.counts[name], report.reasons[name]) for name in subject.kernels)
    return tuple(KernelEffect(name, count["replaced"], count["kept"], reasons) for name, count, reasons in rows)


def _timed(
    subject: Subject,
    rules: CheckRules,
    outputs: OutputCheck,
    effects: tuple[KernelEffect, ...],
    say: Callable[[str], None],
) -> ModelCheck:
    rng, modes = random.Random(rules.seed), Ways(subject.draw(0))
    for name in rules.modes:
        say(f"preparing {name}")
        modes.add(name, lambda name=name: compiled(subject.model, PYTORCH[name]))  # type: ignore[misc]
    before = race(DeviceWindows(modes.calls), list(modes.calls), rng, rules.rounds)
    fastest = before.fastest(list(modes.calls))
    mode = PYTORCH[without_graph(fastest)]
    say(f"the fastest of PyTorch's modes is {fastest}; timing each region alone in it")
    effects = tuple(region_times(subject.package, effect, mode, rng, rules.rounds) for effect in effects)
    compilers = applied_ways(mode)
    for name, compiler in compilers.items():
        say(f"preparing {name}")
        modes.add(name, lambda compiler=compiler: subject.applied(compiler=compiler))  # type: ignore[misc]
    if any(f"{name}{GRAPH}" in modes.failed for name in compilers):
        effects = tuple(_with_graph_fault(subject, effect) for effect in effects)
    first = race(DeviceWindows(modes.calls), list(modes.calls), rng, rules.rounds)
    if not modes.named(compilers):
        raise RuntimeError(f"the model does not run with the kernels: {next(iter(modes.failed.values()))}")
    chosen = first.fastest(modes.named(compilers))
    after = _Chosen(fastest, chosen, compilers[without_graph(chosen)], GRAPH if chosen.endswith(GRAPH) else "")
    effects = _left_out_one_by_one(subject, rules, modes, after, effects, rng, say)
    return _concluded(subject, rules, outputs, effects, modes, after, first, rng, say)


@dataclass(frozen=True)
class _Chosen:
    """The fastest of PyTorch's ways, and the fastest with the kernels: its compiler, and whether it is a graph."""

    fastest: str
    applied: str
    compiler: str
    suffix: str


def _with_graph_fault(subject: Subject, effect: KernelEffect) -> KernelEffect:
    """Find out whether this kernel alone keeps the model from being captured."""
    if not effect.replaced:
        return effect
    other_names, alone = [name for name in subject.kernels if name != effect.name], "alone"
    single = Ways(subject.draw(0))
    single.add(alone, lambda: subject.applied(without=other_names))
    return replace(effect, breaks_graphs=single.failed.get(f"{alone}{GRAPH}", single.failed.get(alone, "")))


def _left_out_one_by_one(
    subject: Subject,
    rules: CheckRules,
    ways: Ways,
    chosen: _Chosen,
    effects: tuple[KernelEffect, ...],
    rng: random.Random,
    say: Callable[[str], None],
) -> tuple[KernelEffect, ...]:
    """Time the model without each kernel beside the one with all, in the same windows."""
    suffix = chosen.suffix
    names = {
        effect.name: f"without {effect.name}" for effect in effects if effect.replaced and not effect.breaks_graphs
    }
    for kernel, name in names.items():
        say(f"preparing the model {name}")
        ways.add(name, lambda kernel=kernel: subject.applied(without=[kernel], compiler=chosen.compiler))  # type: ignore[misc]
    beside = [f"{name}{suffix}" for name in names.values() if f"{name}{suffix}" in ways.calls]
    calls = {mode_name: ways.calls[mode_name] for mode_name in (chosen.applied, *beside)}
    result = race(DeviceWindows(calls), list(calls), rng, rules.rounds)
    return tuple(
        replace(effect, in_model=result.speed(chosen.applied, mode_name))
        if (mode_name := f"{names.get(effect.name, '')}{suffix}") in calls
        else effect
        for effect in effects
    )


def _concluded(
    subject: Subject,
    rules: CheckRules,
    outputs: OutputCheck,
    effects: tuple[KernelEffect, ...],
    ways: Ways,
    chosen: _Chosen,
    first: Race,
    rng: random.Random,
    say: Callable[[str], None],
) -> ModelCheck:
    """Leave out what does not help, and time the rest beside the fastest of PyTorch's modes."""
    fastest, applied = chosen.fastest, chosen.applied
    left_out = tuple(effect.name for effect in effects if effect.is_worthless)
    if left_out and len(left_out) < len(effects):
        say(f"timing the model without {', '.join(left_out)}")
        name = "with the kernels that help"
        ways.add(name, lambda: subject.applied(without=left_out, compiler=chosen.compiler))
        applied = f"{name}{chosen.suffix}" if f"{name}{chosen.suffix}" in ways.calls else applied
    pair = {mode_name: ways.calls[mode_name] for mode_name in (fastest, applied)}
    last = race(DeviceWindows(pair), list(pair), rng, 2 * rules.rounds)
    gain = last.speed(applied, fastest)
    if gain.estimate < 1.0:
        left_out = tuple(effect.name for effect in effects)  # what helps the applied model does not make it the fastest
    useful = [effect for effect in effects if effect.name not in left_out]
    return ModelCheck(
        subject.name,
        torch.cuda.get_device_name(),
        outputs,
        effects,
        {way: first.median_us(way) for way in first.samples},
        dict(ways.failed),
        fastest,
        applied,
        gain,
        _forecast(first.median_us(fastest), useful),
        left_out,
        first.speed(chosen.applied, fastest),
        _forecast(first.median_us(fastest), effects),
    )


def _forecast(model_us: float, effects: Sequence[KernelEffect]) -> float:
    """Compute the gain of kernels whose regions were timed alone; 0 where there is none."""
    rows = [(effect.replaced, effect.region_us, effect.kernel_us) for effect in effects if effect.speed]
    return forecast(model_us, rows) if rows else 0.0
