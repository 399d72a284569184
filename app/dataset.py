"""A run's attempts as a dataset: what was asked of the writer, and what came of it; to a file, or to LangSmith.

Texts go through the rules of traces: keys are removed, and kernels are texts, digests or sizes. Of a finding only kind
and line are told, because its message may hold what a held-out case has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid5

from app.trace_view import view_of
from records.address import shown_address
from records.errors import LedgerError, MachineError, UsageError
from records.program_version import program_version

if TYPE_CHECKING:
    from app.settings import Settings
    from records.artefacts import ArtefactStore
    from records.experiment import Attempt, Run
    from records.ledger import Ledger

BATCH = 100  # examples in a request
CONNECT_MS, ANSWER_MS = 5_000, 30_000


def examples_of(settings: Settings, ledger: Ledger, artefacts: ArtefactStore, run: Run) -> list[dict[str, Any]]:
    """Make an example of each attempt, in the form of LangSmith: id, inputs, outputs, metadata."""
    view = view_of(settings)
    attempts = {attempt.id: attempt for attempt in ledger.attempts(run.id)}
    examples = []
    for attempt in attempts.values():
        name = f"{run.id}/{attempt.id}"
        about = {"run": run.id, "attempt": attempt.id, "target": run.target, "author": run.author, "seed": run.seed}
        about["version"] = program_version()
        examples.append(
            {
                "id": str(uuid5(NAMESPACE_URL, f"kernel-scientist/{name}")),
                "inputs": view(_inputs(ledger, artefacts, run, attempt, attempts)),
                "outputs": view(_outputs(ledger, artefacts, attempt, attempts)),
                "metadata": view(about),
            }
        )
    if not examples:
        raise UsageError(f"the run {run.id} has no attempts yet, and a dataset is made of them")
    return examples


def lines_of(examples: list[dict[str, Any]]) -> bytes:
    """JSON lines, an example each."""
    return "".join(json.dumps(example, ensure_ascii=False, sort_keys=True) + "\n" for example in examples).encode(
        "utf-8", "replace"
    )


def send(settings: Settings, run: Run, examples: list[dict[str, Any]], answer_ms: int = ANSWER_MS) -> tuple[str, int]:
    """Make the dataset in LangSmith, or add what it has not yet; its name or address, and how many were added.

    A request that is not answered within `answer_ms` is not sent again: what it asked for may have been done.

    Raises:
        MachineError: LangSmith cannot be reached, or refuses.
    """
    from langsmith.utils import LangSmithError
    from requests import RequestException
    from urllib3.util import Retry

    from app.trace_client import TraceClient

    key = settings.langsmith_api_key
    client = TraceClient(
        api_url=settings.langsmith_endpoint,
        api_key=key.get_secret_value() if key is not None else None,
        timeout_ms=(CONNECT_MS, answer_ms),
        retry_config=Retry(total=2, read=0, backoff_factor=0.5),
        auto_batch_tracing=False,
    )
    name = f"kernel-scientist {run.id}"
    try:
        if client.has_dataset(dataset_name=name):
            dataset = client.read_dataset(dataset_name=name)
        else:
            about = {"run": run.id, "task": examples[0]["inputs"]["task"], "target": run.target, "author": run.author}
            about["version"] = program_version()
            description = f"Attempts of a run on {about['task']} for {run.target}"
            dataset = client.create_dataset(name, description=description, metadata=about)
        present = {str(example.id) for example in client.list_examples(dataset_id=dataset.id)}
        new = [example for example in examples if example["id"] not in present]
        for batch in _batches(new):
            renamed = [
                {"reference_outputs" if k == "outputs" else k: v for k, v in example.items()} for example in batch
            ]
            client.create_examples(dataset_id=dataset.id, examples=renamed)
        return _address(dataset) or name, len(new)
    except (LangSmithError, RequestException, ValueError) as error:
        address = shown_address(settings.langsmith_endpoint or "") or "LangSmith"
        raise MachineError(
            f"the dataset did not reach {address} ({type(error).__name__}); check LANGSMITH_ENDPOINT and "
            "LANGSMITH_API_KEY, or give --out FILE"
        ) from None
    finally:
        client.close(timeout=0)


def _inputs(
    ledger: Ledger, artefacts: ArtefactStore, run: Run, attempt: Attempt, attempts: dict[str, Attempt]
) -> dict[str, Any]:
    experiment = ledger.experiment(run.id, attempt.experiment_id)
    parent = attempts.get(attempt.parent_id or "")
    idea = None
    if experiment is not None:
        gains = {"gain_min_pct": experiment.gain_min_pct, "gain_max_pct": experiment.gain_max_pct}
        words = {"id": experiment.id, "title": experiment.title, "description": experiment.description}
        idea = {**words, "rubric": list(experiment.rubric), **gains}
    inputs: dict[str, Any] = {"task": run.task, "target": run.target, "generation": attempt.generation}
    inputs |= {"number": attempt.number, "experiment": idea}
    if parent is not None:
        text = _text(artefacts, parent)
        inputs["parent"] = {
            "id": parent.id,
            "source": text,
            "geomean_us": parent.geomean_us,
            "time_kind": parent.time_kind,
        }
    return inputs


def _outputs(
    ledger: Ledger, artefacts: ArtefactStore, attempt: Attempt, attempts: dict[str, Attempt]
) -> dict[str, Any]:
    evaluation = ledger.evaluation(attempt.evaluation_key)
    parent = attempts.get(attempt.parent_id or "")
    speedup = None
    if parent is not None and parent.geomean_us and attempt.geomean_us and parent.time_kind == attempt.time_kind:
        speedup = round(parent.geomean_us / attempt.geomean_us, 4)
    return {
        "source": _text(artefacts, attempt),
        "status": attempt.status,
        "verdict": {"accepted": attempt.status in ("accepted", "tried"), "stage": attempt.stage, "code": attempt.code},
        "findings": []
        if evaluation is None
        else [{"kind": f.kind, "line": f.line} for f in evaluation.verdict.findings],
        "tunables": dict(attempt.tunables),
        "geomean_us": attempt.geomean_us,
        "time_kind": attempt.time_kind,
        "times_us": {} if evaluation is None else {m.case: round(m.time_us, 4) for m in evaluation.measurements},
        "speedup_over_parent": speedup,
        "strategy": attempt.strategy,
    }


def _text(artefacts: ArtefactStore, attempt: Attempt) -> str | None:
    try:
        return artefacts.text(attempt.source)
    except LedgerError:  # the artefact was removed
        return None


def _batches(examples: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for begin in range(0, len(examples), BATCH):
        yield examples[begin : begin + BATCH]


def _address(dataset: Any) -> str:
    address, number = dataset.url, dataset.id
    return str(address) if address and isinstance(number, UUID) else ""
