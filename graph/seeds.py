"""Generation 0: the task's own kernels, judged as they are."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agents.strategy import strategy
from graph.context import Context
from graph.evaluating import evaluate
from graph.events import emit, record_attempt
from graph.lesson import reason_of
from graph.pausing import together
from records.errors import Pending, TaskError
from records.experiment import Attempt, Experiment


def judge_seeds(runtime: Runtime[Context]) -> list[Attempt]:
    """All seeds; where answers are pending, all of them are asked for before the run waits."""
    attempts, pendings = list[Attempt](), list[Pending]()
    for slot in range(len(runtime.context.assignment.task.seeds)):
        try:
            attempts.append(_judge_seed(runtime, slot))
        except Pending as pending:
            pendings.append(pending)
    if pendings:
        raise together(pendings)
    return attempts


def _judge_seed(runtime: Runtime[Context], slot: int) -> Attempt:
    """Verify and time one seed as it is; record it as an experiment without a parent."""
    context = runtime.context
    path = context.assignment.task.seeds[slot]
    experiment = _experiment(context, slot)
    context.ledger.add_experiment(experiment)
    emit(
        runtime,
        "stage",
        f"{experiment.id}:benchmark:0",
        generation=0,
        experiment=experiment.id,
        stage="benchmark",
        number=0,
    )
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"the seed {path} cannot be read ({error})") from None
    digest = context.artefacts.put(source)
    result = evaluate(context, "benchmark", context.sandbox.prepare(source, context.assignment.task))
    accepted = result.verdict.accepted
    attempt = Attempt(
        id=f"{experiment.id}-a0",
        run_id=context.run.id,
        experiment_id=experiment.id,
        generation=0,
        number=0,
        candidate_id=result.candidate_id,
        source=digest,
        status="accepted" if accepted else "rejected",
        evaluation_key=result.key,
        tunables=result.tunables,
        geomean_us=result.geomean_us if accepted else None,
        time_kind=result.time_kind if accepted else None,
        code=result.verdict.code,
        stage=result.verdict.stage,
        reason="" if accepted else reason_of(result),
        strategy=strategy(source),
    )
    record_attempt(runtime, attempt)
    return attempt


def _experiment(context: Context, slot: int) -> Experiment:
    name = context.assignment.task.seeds[slot].name
    return Experiment(
        id=f"g000-e{slot}",
        run_id=context.run.id,
        generation=0,
        slot=slot,
        parent_id=None,
        reference_id=None,
        title=f"seed {name}",
        description=f"The task's own kernel {name}.",
        picked_as="seed",
    )
