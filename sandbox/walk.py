"""The walk of one experiment: compile, verify, tune, benchmark, compare.

The graph walks it node by node with the ledger behind each question; a worker walks it whole and keeps what it found.
Both ask for the same evaluations in the same order because both call this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from records.evaluation import Evaluation, Rival
from records.ranking import by_interval, interval_of
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.quantities import quantities, unused_tunables
from sandbox.candidate.search import Timing
from sandbox.candidate.tuning import Tuning, finalists
from sandbox.protocol import Sandbox

Purpose = Literal["compile", "verify", "benchmark", "estimate", "confirm"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
Ask = Callable[[Purpose, Prepared], Evaluation]


@dataclass(frozen=True)
class Finalist:
    """The choice of tunables that an experiment ends with."""

    prepared: Prepared  # with the choice as the file's default
    evaluation: Evaluation  # of its benchmark; of its compilation where it is known already
    is_known: bool = False  # as a kernel that was judged before


def question(sandbox: Sandbox, purpose: Purpose) -> Callable[[Prepared], Evaluation]:
    """Choose the sandbox's method for a purpose."""
    match purpose:
        case "compile":
            return sandbox.compile
        case "verify":
            return sandbox.verify
        case "benchmark":
            return sandbox.benchmark
        case "estimate":
            return sandbox.estimate
        case "confirm":
            return sandbox.confirm


def judge(ask: Ask, prepared: Prepared, purposes: tuple[Purpose, ...]) -> tuple[tuple[Purpose, Evaluation], ...]:
    """Evaluate for each purpose, in this order; after the first refusal all say the same."""
    evaluations: list[tuple[Purpose, Evaluation]] = []
    for purpose in purposes:
        refused = evaluations and not evaluations[-1][1].verdict.accepted
        evaluations.append((purpose, evaluations[-1][1] if refused else ask(purpose, prepared)))
    return tuple(evaluations)


def tune(ask: Ask, prepared: Prepared, tuning: Tuning, patience: int = 0) -> list[dict[str, int]]:
    """Choose what to benchmark, best estimate first, the default last; estimates verify nothing.

    With patience the search ends after so many estimates without a clear gain.
    """

    def estimate(choice: Mapping[str, int]) -> Timing:
        return timing_of(ask("estimate", prepared.choose(choice)))

    if len(prepared.choices) <= 1:
        return finalists(prepared.choices, tuning, estimate)
    return finalists(prepared.choices, tuning, estimate, unused_tunables(prepared), quantities(prepared), patience)


def timing_of(evaluation: Evaluation) -> Timing:
    """Read the answer to an estimate as a search takes it."""
    if not evaluation.verdict.accepted or evaluation.rank_us is None:
        return Timing(None)
    return Timing(evaluation.rank_us, *(interval_of(evaluation) if evaluation.time_kind == "measured" else ()))


def benchmark(
    ask: Ask,
    prepared: Prepared,
    choices: list[dict[str, int]],
    is_known: Callable[[Prepared, Evaluation], bool] = lambda prepared, compiled: False,
) -> Finalist:
    """Find the first of the choices that is right, or known; else the last. Each is compiled, then judged in full."""
    for choice in choices:
        tuned = prepared.tuned(choice)
        compiled = ask("compile", tuned)
        if is_known(tuned, compiled):
            return Finalist(tuned, compiled, is_known=True)
        finalist = Finalist(tuned, ask("benchmark", tuned))
        if finalist.evaluation.verdict.accepted:
            break
    return finalist


def needs_confirmation(evaluation: Evaluation) -> bool:
    """Tell whether a kernel's time is predicted: a measured one's outputs were compared whole, call by call."""
    return evaluation.time_kind != "measured"


def needs_comparison(evaluation: Evaluation, rival: Rival | None) -> bool:
    """Tell whether a measured level is too close to the rival's to say which of the two is faster."""
    if rival is None or not evaluation.verdict.accepted or evaluation.time_kind != "measured":
        return False
    return by_interval(interval_of(evaluation), (rival.low_us, rival.high_us)) is None
