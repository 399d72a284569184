"""The model's endpoint asked whether it is there, before a run judges its first kernels: minutes would be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.screen import note
from app.settings import Settings
from records.errors import ModelUnreachable
from records.stopping import StopSignal

if TYPE_CHECKING:
    from records.experiment import Run
    from records.ledger import Ledger

MOST_LISTED = 6
WAITS_S = (1.0, 3.0)  # between the tries


def reach_model(settings: Settings, run: Run, ledger: Ledger, stop: StopSignal) -> None:
    """Ask a new run's endpoint for its list of models, which costs nothing; ModelError where it is not there.

    A run that has asked it before is not held up: what would pass is waited for.
    """
    if run.author != "llm" or ledger.calls(run.id):
        return
    from agents.model.probe import listed_models
    from agents.model.transport import Transport
    from app.wiring import make_endpoint
    from graph.leaving import left

    endpoint = make_endpoint(settings)
    ledger.add_run(run)
    with left(ledger, run.id):
        models = _listed(lambda: listed_models(Transport(endpoint)), stop)
    unknown = [model for model in (endpoint.model, *endpoint.fallbacks) if models and model not in models]
    if unknown:
        listed = ", ".join(models[:MOST_LISTED]) + (", ..." if len(models) > MOST_LISTED else "")
        note(f"the endpoint at {endpoint.address} does not list the model {unknown[0]}; it lists {listed}")


def _listed(ask: Callable[[], tuple[str, ...]], stop: StopSignal) -> tuple[str, ...]:
    """Ask a few times: a server may be on its way up."""
    for wait_s in WAITS_S:
        try:
            return ask()
        except ModelUnreachable:
            stop.pause(wait_s)
    return ask()
