"""Generation 0: the task's own kernels and those of a person, each judged and tuned like any other.

So a gain is over a tuned kernel. Where there is none to begin with, the author writes the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langgraph.runtime import Runtime

from graph.context import Context
from graph.experiment_node import run_trial
from graph.pausing import together
from graph.state import TrialState
from records.errors import Pending
from records.experiment import Attempt, Experiment
from tasks.loader import seed_text

RUBRIC = (
    "compute every output for all shapes that the task allows, odd sizes included",
    "accumulate in float32 or better",
    "let neighbouring work-items touch neighbouring elements of the largest buffers",
)


def begin(runtime: Runtime[Context]) -> tuple[Attempt | None, str]:
    """Return the first kernel of generation 0, or None and the reason why the run cannot begin."""
    context = runtime.context
    task, kernels = context.assignment.task, _starting_kernels(context)
    if not kernels:
        return _write_first(runtime)
    attempts = _judge(runtime, kernels)
    first = attempts[0] if context.has_seeds and task.seeds else _accepted(attempts)
    if first is not None and first.status == "accepted":
        return first, ""
    if context.has_seeds and task.seeds:
        return None, f"the first seed of task {task.name} must be accepted before a run: {attempts[0].reason}"
    return None, f"none of the kernels to begin with is accepted; the first: {attempts[0].reason}"


def _starting_kernels(context: Context) -> Sequence[tuple[str, str, str]]:
    """Kind, title and text or artefact digest of each kernel that is there."""
    seeds = context.assignment.task.seeds if context.has_seeds else ()
    seed_rows = [(_kind(context, path), f"seed {path.name}", _keep(context, path)) for path in seeds]
    rows = [*seed_rows, *((start.kind, start.title, start.source) for start in context.starts)]
    return [part for row in rows for part in (row, *_parts(context, *row))]


def _kind(context: Context, path: Path) -> str:
    """`given`: the kernel that the task was taken from; `generated`: those of an import; `seed`: all others."""
    origin = context.assignment.task.provenance
    if origin is None:
        return "seed"
    return "given" if origin.is_kernel and path.name.split(".")[0] == "seed" else "generated"


def _parts(context: Context, kind: str, title: str, source: str) -> list[tuple[str, str, str]]:
    """List the kernels of a dispatch that are right everywhere, which the author can build on; none for one kernel."""
    prepared = context.sandbox.prepare(context.artefacts.text(source), context.assignment.task)
    parts = {arm.variant.part: arm.prepared.source for arm in prepared.arms if not arm.prepared.requires}
    return [(kind, f"{title}, part {name}", context.artefacts.put(text)) for name, text in parts.items()]


def _keep(context: Context, path: Path) -> str:
    return context.artefacts.put(seed_text(path))


def _judge(runtime: Runtime[Context], kernels: Sequence[tuple[str, str, str]]) -> list[Attempt]:
    """All of them; where answers are pending, all are asked for before the run waits."""
    attempts, pendings = list[Attempt](), list[Pending]()
    for slot, (kind, title, source) in enumerate(kernels):
        is_own = title.startswith("seed ")
        words = f"The task's own kernel {title.removeprefix('seed ')}." if is_own else "A kernel to begin with."
        experiment = _experiment(runtime.context, slot, title, words, kind)
        try:
            attempts.append(_walk(runtime, experiment, source))
        except Pending as pending:
            pendings.append(pending)
    if pendings:
        raise together(pendings)
    return attempts


def _write_first(runtime: Runtime[Context]) -> tuple[Attempt | None, str]:
    """Have the author write kernels from the reference, one after the other, until one is accepted."""
    context = runtime.context
    task, author = context.assignment.task, context.author
    if not author.can_begin:
        return None, (
            f"the task {task.name} has no seed, and the author {author.name} changes kernels but writes none; "
            "give one with --from FILE, or use a model with --author llm"
        )
    for slot in range(context.limits.picks):
        words = "Write the first kernel for this task, from its reference."
        attempt = _walk(runtime, _experiment(context, slot, "first kernel", words, "first", RUBRIC))
        if attempt.status == "accepted":
            return attempt, ""
    return None, f"no first kernel was accepted; the last: {attempt.reason}"


def _walk(runtime: Runtime[Context], experiment: Experiment, source: str = "") -> Attempt:
    """Return the last attempt of an experiment without a parent; it is walked unless the ledger has that."""
    context = runtime.context
    context.ledger.add_experiment(experiment)
    attempt = _last(context, experiment)
    if attempt is None or (not source and attempt.status in ("rejected", "tried")):  # which the writer goes on from
        state: TrialState = {"experiment_id": experiment.id, "generation": 0, "leader": "", "move": "", "given": source}
        run_trial(state, runtime)
        attempt = _last(context, experiment)
    assert attempt is not None
    return attempt


def _last(context: Context, experiment: Experiment) -> Attempt | None:
    attempts = [a for a in context.ledger.attempts(context.run.id, 0) if a.experiment_id == experiment.id]
    return attempts[-1] if attempts else None


def _accepted(attempts: Sequence[Attempt]) -> Attempt | None:
    return next((a for a in attempts if a.status == "accepted"), None)


def _experiment(
    context: Context, slot: int, title: str, description: str, kind: str, rubric: tuple[str, ...] = ()
) -> Experiment:
    return Experiment(
        id=f"g000-e{slot}",
        run_id=context.run.id,
        generation=0,
        slot=slot,
        parent_id=None,
        reference_id=None,
        title=title,
        description=description,
        rubric=rubric,
        picked_as=kind,
    )
