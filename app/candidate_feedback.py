"""Feedback on a run's trace, and on each candidate's step of it, sent by a thread that holds nothing up."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from langsmith import Client

    from graph.context import Context

RIGHT = ("accepted", "tried")


@dataclass(frozen=True)
class Opinion:
    """What is told of a candidate: the step that it ended in, and the event."""

    step_id: UUID
    trace_id: UUID
    event: Mapping[str, Any]


class CandidateFeedback:
    """Sends outcome, stage, code and time of candidates; any thread may hand them over."""

    def __init__(self, client: Client, project: str, tell_fault: Callable[[str], None]) -> None:
        """`tell_fault` is told the kind of a fault, once; nothing is begun before the first candidate."""
        self._client, self._project, self._tell_fault = client, project, tell_fault
        self._waiting = queue.SimpleQueue[Opinion | None]()
        self._lock, self._sender = threading.Lock(), threading.Thread(target=self._send_all, daemon=True)
        self._has_begun = False

    def put(self, step_id: UUID, trace_id: UUID, event: Mapping[str, Any]) -> None:
        """Hand over what became of a candidate."""
        with self._lock:
            if not self._has_begun:
                self._has_begun = True
                self._sender.start()
        self._waiting.put(Opinion(step_id, trace_id, event))

    def close(self, within_s: float) -> None:
        """Wait for what is left, for so long at most."""
        if self._has_begun:
            self._waiting.put(None)
            self._sender.join(within_s)

    def _send_all(self) -> None:
        from langsmith.utils import LangSmithError
        from requests import RequestException

        project_id: UUID | None = None
        while (opinion := self._waiting.get()) is not None:
            try:
                if project_id is None:
                    project_id = self._client.read_project(project_name=self._project).id
                self._send(opinion, project_id)
            except (LangSmithError, RequestException, ValueError) as error:
                self._tell_fault(type(error).__name__)
                return

    def _send(self, opinion: Opinion, project_id: UUID) -> None:
        event = opinion.event
        rows: list[tuple[str, float | None, str | None]] = [
            ("outcome", float(event["status"] in RIGHT), str(event["status"])),
            *((name, None, str(event[name])) for name in ("stage", "code") if event.get(name)),
        ]
        if event.get("geomean_us") is not None:
            rows.append(("time_us", float(event["geomean_us"]), None))
        for name, score, value in rows:
            self._client.create_feedback(
                opinion.step_id,
                name,
                score=score,
                value=value,
                trace_id=opinion.trace_id,
                session_id=project_id,
                stop_after_attempt=1,
            )


def scores(context: Context, best_id: str, speedup: float | None, usd: float) -> dict[str, float]:
    """Return the feedback on a run's trace; `best_id` is empty where no kernel was verified."""
    from graph.population import kernel, roofline_fraction

    feedback = {"accepted": float(bool(best_id)), "cost": usd}
    if best_id:
        feedback["roofline_fraction"] = round(roofline_fraction(kernel(context, best_id).evaluation), 4)
        if speedup is not None:
            feedback["speedup"] = round(speedup, 4)
    return feedback
