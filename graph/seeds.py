"""Generation 0: the task's own kernels, each judged and tuned like any other, so that a gain is over a tuned kernel."""

from __future__ import annotations

from pathlib import Path

from langgraph.runtime import Runtime

from graph.context import Context
from graph.pausing import together
from graph.population import attempt_of
from graph.state import TrialState
from graph.subgraph import run_trial
from records.errors import Pending, TaskError
from records.experiment import Attempt, Experiment


def judge_seeds(runtime: Runtime[Context]) -> list[Attempt]:
    """All seeds; where answers are pending, all of them are asked for before the run waits."""
    attempts, pendings = list[Attempt](), list[Pending]()
    for slot, path in enumerate(runtime.context.assignment.task.seeds):
        try:
            attempts.append(_judge_seed(runtime, slot, path))
        except Pending as pending:
            pendings.append(pending)
    if pendings:
        raise together(pendings)
    return attempts


def _judge_seed(runtime: Runtime[Context], slot: int, path: Path) -> Attempt:
    """Walk one seed through the stages of an experiment without a parent, unless the ledger has it."""
    context = runtime.context
    experiment = _experiment(context, slot, path)
    context.ledger.add_experiment(experiment)
    attempt_id = f"{experiment.id}-a0"
    if context.ledger.attempt(context.run.id, attempt_id) is None:
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TaskError(f"the seed {path} cannot be read ({error})") from None
        given: TrialState = {
            "experiment_id": experiment.id,
            "generation": 0,
            "leader": "",
            "move": "",
            "given": context.artefacts.put(source),
        }
        run_trial(given, runtime)
    return attempt_of(context, attempt_id)


def _experiment(context: Context, slot: int, path: Path) -> Experiment:
    return Experiment(
        id=f"g000-e{slot}",
        run_id=context.run.id,
        generation=0,
        slot=slot,
        parent_id=None,
        reference_id=None,
        title=f"seed {path.name}",
        description=f"The task's own kernel {path.name}.",
        picked_as="seed",
    )
