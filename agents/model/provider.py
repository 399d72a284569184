"""The policy of one endpoint: what is adapted, what is waited for, what is refused. Every fault has one of four ends.

A refused part of the request takes its next simpler form (agents/model/forms.py), a refused size is fitted
(agents/model/prompt_fit.py), what would pass is waited for (agents/model/patience.py), and all else is an error in
words (agents/model/model_errors.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tenacity import RetryCallState, Retrying, retry_if_exception_type

from agents.model.conversation import RawReply
from agents.model.endpoint import Endpoint
from agents.model.endpoint_memory import EndpointMemory
from agents.model.fare import Fare
from agents.model.faults import Fault
from agents.model.inquiry import Inquiry, ModelQuestion
from agents.model.known_models import KnownModels
from agents.model.pace import Pace
from agents.model.prompt_fit import size_of
from agents.model.structured_output import clean
from agents.model.transport import Transport
from records.errors import ModelError, RunStopped
from records.stopping import StopSignal

LONG_S = 60.0  # a wait that is told
LEAST_S = 0.1  # of a request, when its run's time is all but up


class Provider:
    """Asks one endpoint, from any number of threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        sleep: Callable[[float], None] | None = None,
        memory: EndpointMemory | None = None,
        tell: Callable[[str], None] = lambda _: None,
        stop: StopSignal | None = None,
    ) -> None:
        """Nothing is sent yet. `tell` gets a sentence for each thing that a person may want to know.

        After `stop` nothing is sent, and no answer is waited for.
        """
        stop = stop or StopSignal()
        self.endpoint = endpoint
        self.models = KnownModels(endpoint, memory or EndpointMemory())
        self.pace = Pace(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        self.transport = Transport(endpoint, self.pace.learn, stop)
        self._tell, self._stop = tell, stop
        self._sleep = stop.pause if sleep is None else sleep
        self._lock = threading.Lock()
        self._told = set[str]()

    def ask(self, question: ModelQuestion, config: Mapping[str, Any], fare: Fare | None = None) -> RawReply:
        """Answer a question; ModelError says in one sentence why there is none.

        `fare` pays: what may be billed and brought no answer is lost, and what waits holds no money of others.
        """
        talk = tuple(replace(m, content=clean(m.content)) for m in question.talk)
        inquiry = Inquiry(self.endpoint, self.models, replace(question, talk=talk))

        def wait_s(state: RetryCallState) -> float:
            fault = _fault_of(state)
            if fare is not None:
                (fare.lose if fault.is_sent else fare.give_back)()
            self._stop.check()
            self._announce(inquiry, fault)
            try:
                seconds = inquiry.meet(fault)
            except ModelError as error:
                raise error from None
            return seconds if fare is None else min(seconds, fare.seconds_left())

        asking = Retrying(retry=retry_if_exception_type(Fault), wait=wait_s, sleep=self._wait)
        return asking(lambda: self._answered(inquiry, self._send(inquiry, config, fare)))

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._sleep(seconds)

    def _send(self, inquiry: Inquiry, config: Mapping[str, Any], fare: Fare | None) -> RawReply:
        request = inquiry.request()
        if fare is not None:
            fare.set_aside()
            most_tokens, left_s = min(request.max_tokens, fare.max_tokens), max(LEAST_S, fare.seconds_left())
            request = replace(request, max_tokens=most_tokens, within_s=left_s)
        prompt = int(size_of(request.talk) / inquiry.sizes.bytes_per_token)
        wait = self.pace.admit(prompt + request.max_tokens, threading.get_ident())
        try:
            self._wait(min(wait, request.within_s))
            self._stop.check()
        except RunStopped:  # nothing was sent
            if fare is not None:
                fare.give_back()
            raise
        return self.transport.send(request, config)

    def _answered(self, inquiry: Inquiry, raw: RawReply) -> RawReply:
        """Remember what worked, and say what was left out."""
        sizes, fitted = inquiry.sizes, inquiry.fitted
        self.models.answered(raw.model, inquiry.forms, sizes)
        if fitted.left_out:
            self.tell_once(
                f"the window of the model {raw.model} holds {sizes.window} tokens; left out of a prompt: "
                f"{', '.join(fitted.left_out)}"
            )
        return replace(raw, left_out=fitted.left_out)

    def _announce(self, inquiry: Inquiry, fault: Fault) -> None:
        """Let others wait for what this caller was told to wait for, and say so where it takes long."""
        if fault.after_s:
            self.pace.hold(fault.after_s, threading.get_ident())
        if inquiry.patience.waited_s + fault.named_s > LONG_S:
            self.tell_once(
                f"the model's endpoint {self.endpoint.address} is out of order or busy ({fault.text}); it is waited "
                f"for, up to {inquiry.patience.most_s / 3600:.1f} h a question"
            )

    def tell_once(self, text: str) -> None:
        """Tell a person, once a session."""
        with self._lock:
            is_new = text not in self._told
            self._told.add(text)
        if is_new:
            self._tell(text)


def _fault_of(state: RetryCallState) -> Fault:
    fault = state.outcome.exception() if state.outcome else None
    if not isinstance(fault, Fault):
        raise TypeError("only a fault of a request is met")
    return fault
