"""The one gateway to a language model. Every question of every agent goes through `Gateway.ask`.

A question is one to three paid requests: the first, one with the token limit doubled when the answer was cut
off, and one with the complaint when it could not be read. Each request has its own key in the ledger; its answer is
stored before it is used, so that a resumed run finds it and never pays twice.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from agents.author import Step
from agents.model.conversation import Message, RawReply, transcribed
from agents.model.endpoint import Endpoint, add
from agents.model.fare import Fare, with_answer
from agents.model.model_choice import model_of
from agents.model.price import most_prompt_tokens
from agents.model.structured_output import Form, ReplyError, clean, instruction, objects, response_format
from agents.model.tools import PONG, QUESTION, QUESTION_TOKENS, Tool, ToolsRefused, calls_a_tool
from agents.model.transport import Options, Rejected, Transport
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.errors import MalformedReply, ModelError, ModelRefused, TruncatedReply
from records.experiment import ModelCall, Usage
from records.ledger import Ledger
from records.run_meter import RunMeter

Value = TypeVar("Value")
LEAST_ANSWER = 1024  # tokens: no shorter answer is worth a request
QUOTED_CHARS = 20_000  # of an unreadable answer, when it is shown to its writer again


@dataclass(frozen=True)
class Reply(Generic[Value]):
    """An answer that was read: the text, the record made of it, the cost of all its requests."""

    text: str
    value: Value
    usage: Usage


class LanguageModel(Protocol):
    """The model as the agents use it."""

    def ask(
        self, role: str, step: Step, messages: Sequence[Message], form: Form[Value], candidate: str = ""
    ) -> Reply[Value]:
        """One question; ModelError when no usable answer came."""

    def calls_tools(self, role: str, step: Step) -> bool:
        """Tell whether the role's model answers with tool calls when tools are offered."""

    def turn(
        self, role: str, step: Step, messages: Sequence[Message], tools: Sequence[Tool], candidate: str = ""
    ) -> RawReply:
        """One turn of a conversation as it came, perhaps with tool calls; ToolsRefused where none may be offered."""


class Gateway:
    """A LanguageModel over HTTP, with the budget, the ledger and the artefact store of a run folder."""

    def __init__(
        self,
        endpoint: Endpoint,
        ledger: Ledger,
        artefacts: ArtefactStore,
        budget_usd: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
        meter: RunMeter | None = None,
    ) -> None:
        """Nothing is sent yet. `meter` knows the limits of a whole run; without one there is the budget alone."""
        self.endpoint = endpoint
        self.ledger = ledger
        self.artefacts = artefacts
        self._budget = Allowance(budget_usd)
        self._meter = meter
        self._longest: dict[str, int] = {}  # tokens of a role's answers
        self._excess: dict[str, float] = {}  # of a model's prompt tokens over what they were reserved as
        self._transport = Transport(endpoint, sleep)
        self._lock = threading.Lock()
        self._question = threading.Lock()  # parallel experiments ask whether tools are called, and one pays
        self._options: dict[str, Options] = {}

    def ask(
        self, role: str, step: Step, messages: Sequence[Message], form: Form[Value], candidate: str = ""
    ) -> Reply[Value]:
        """One question in the asked form; at most three requests are paid for."""
        talk = [Message(m.role, clean(m.content)) for m in messages]
        if form.schema is not None:
            talk[-1] = replace(talk[-1], content=f"{talk[-1].content}\n\n{instruction(form.schema)}")
        asked, used, max_tokens = tuple(talk), Usage(), self.endpoint.max_tokens
        grown = mended = False
        while True:
            raw = self._paid(role, step, talk, max_tokens, candidate, form.schema)
            used = add(used, raw.usage)
            if raw.is_cut:
                if grown:
                    raise TruncatedReply(
                        f"the {role}'s answer was cut off at {max_tokens} tokens; allow more tokens "
                        "an answer in the settings or use another model, then resume the run"
                    )
                grown, max_tokens = True, 2 * max_tokens
                continue
            try:
                return Reply(raw.text, form.read(raw.text), used)
            except ReplyError as error:
                if mended:
                    raise MalformedReply(
                        f"the {role}'s answer could not be used, and neither could its correction: {error}; "
                        "use another model for this role, then resume the run"
                    ) from None
                mended = True
                self._distrust(model_of(self.ledger, role, step, self.endpoint.models_for(role)), raw.text, form)
                talk = [
                    *asked,
                    Message("assistant", raw.text[:QUOTED_CHARS] or "(empty)"),
                    Message(
                        "user",
                        f"That answer cannot be used: {error}. Give the whole answer again, corrected, in "
                        "the form that was asked for.",
                    ),
                ]

    def calls_tools(self, role: str, step: Step) -> bool:
        """By the setting; without one by a small question, paid and stored like any other and asked once a run."""
        if self.endpoint.tools != "auto":
            return self.endpoint.tools == "calls"
        place = Step(step.run_id, 0)
        with self._question:
            try:
                return calls_a_tool(self._paid(role, place, QUESTION, QUESTION_TOKENS, "", tools=(PONG,)))
            except ModelRefused:  # where the endpoint is at fault, the next request says so
                return False

    def turn(
        self, role: str, step: Step, messages: Sequence[Message], tools: Sequence[Tool], candidate: str = ""
    ) -> RawReply:
        """At most two requests: the second with twice the tokens, after an answer that was cut off."""
        talk = [replace(m, content=clean(m.content)) for m in messages]
        max_tokens = self.endpoint.max_tokens
        first = self._paid(role, step, talk, max_tokens, candidate, tools=tools)
        return self._paid(role, step, talk, 2 * max_tokens, candidate, tools=tools) if first.is_cut else first

    def _paid(
        self,
        role: str,
        step: Step,
        talk: Sequence[Message],
        max_tokens: int,
        candidate: str,
        schema: type[BaseModel] | None = None,
        tools: Sequence[Tool] = (),
    ) -> RawReply:
        """The stored answer of this very request, or a new one, stored before it is returned."""
        model = model_of(self.ledger, role, step, self.endpoint.models_for(role))
        prompt, offered = transcribed(talk), [tool.document() for tool in tools]
        key = call_key(role, step, prompt + (json.dumps(offered) if offered else ""), max_tokens)
        stored = self.ledger.call(key)
        if stored is None or stored.state != "done":
            asked = ModelCall(key, step.run_id, role, model, self.artefacts.put(prompt), "reserved", 0.0)
            call = replace(asked, generation=step.generation, experiment_id=step.experiment_id, number=step.number)
            prompt_bytes = len(prompt.encode()) + (len(json.dumps(offered)) if offered else 0)
            fare = self._fare(call, most_prompt_tokens(prompt_bytes, len(talk)), max_tokens)
            stored = fare.set_aside()
        if stored.state == "done" and stored.reply is not None:
            return RawReply.from_text(self.artefacts.text(stored.reply))
        try:
            raw = self._adapted(model, talk, schema, fare, _config(role, step, candidate), offered)
        except ModelError:
            fare.give_back()  # what may have been billed was lost before
            raise
        except BaseException:
            fare.lose()
            raise
        self.ledger.settle(key, self.artefacts.put(raw.to_text()), raw.usage)
        self._learn(role, model, raw.usage, stored.usage.prompt_tokens)
        return raw

    def _fare(self, call: ModelCall, prompt_tokens: int, max_tokens: int) -> Fare:
        """The money of a request: of its longest answer, or of a shorter one where no more is left.

        The shortest that is asked for is half as long again as the longest answer that the role gave so far.
        """
        price, excess = self.endpoint.price_of(call.model), self._excess.get(call.model, 1.0)
        prompt = math.ceil(excess * prompt_tokens)
        longest = self._longest.get(call.role)
        least = max(LEAST_ANSWER, max_tokens // 8) if longest is None else longest + longest // 2
        if max_tokens > self.endpoint.max_tokens:  # after an answer that was cut: a shorter one would be cut again
            least = self.endpoint.max_tokens + 1
        short = with_answer(call, price, prompt, min(least, max_tokens))
        return Fare(self.ledger, with_answer(call, price, prompt, max_tokens), short, self._most, self._check)

    def _learn(self, role: str, model: str, usage: Usage, reserved_prompt: int) -> None:
        with self._lock:
            self._longest[role] = max(usage.completion_tokens, self._longest.get(role, LEAST_ANSWER))
            if reserved_prompt and usage.prompt_tokens > reserved_prompt:  # a server that adds to what is asked
                more = usage.prompt_tokens / reserved_prompt
                self._excess[model] = more * self._excess.get(model, 1.0)

    def _most(self) -> Allowance:
        return self._budget if self._meter is None else self._meter.allowance

    def _check(self) -> None:
        if self._meter is not None:
            self._meter.check()

    def _adapted(
        self,
        model: str,
        talk: Sequence[Message],
        schema: type[BaseModel] | None,
        fare: Fare,
        config: dict[str, Any],
        offered: Sequence[dict[str, Any]],
    ) -> RawReply:
        """Send, with a weaker JSON mode as long as the server refuses a field by name; what works is remembered."""
        options = self.options(model)
        while True:
            wanted = response_format(options.json_mode, schema)
            try:
                fare.set_aside()
                raw = self._transport.send(model, talk, options, wanted, fare.max_tokens, config, offered, fare)
            except Rejected as refusal:
                lower = refusal.adapt(options, wanted is not None)
                if lower is None:
                    kind = ToolsRefused if offered and refusal.names_tools else ModelRefused
                    raise kind(
                        f"the model's endpoint {self.endpoint.address} refused the request with HTTP {refusal.status}: "
                        f"{refusal.text}; check the model name and the token limit"
                    ) from None
                options = lower
                continue
            self._remember(model, options)
            return raw

    def options(self, model: str) -> Options:
        """Options that the server accepts for one model, as far as known."""
        newer = Options(token_field="max_completion_tokens")
        with self._lock:
            return self._options.get(model, newer if self.endpoint.is_openai else Options())

    def _remember(self, model: str, options: Options) -> None:
        with self._lock:
            known = self._options.get(model)
            json_mode = max(options.json_mode, known.json_mode) if known else options.json_mode
            self._options[model] = replace(options, json_mode=json_mode)

    def _distrust(self, model: str, text: str, form: Form[Any]) -> None:
        """A server that was given a schema and returned no JSON does not support this JSON mode: take a weaker one."""
        options = self.options(model)
        if form.schema is not None and options.json_mode < 3 and len(text) < QUOTED_CHARS and not any(objects(text)):
            self._remember(model, replace(options, json_mode=max(2, options.json_mode + 1)))


def call_key(role: str, step: Step, prompt: str, max_tokens: int) -> str:
    """SHA-256 of a request's place in its run and of its text."""
    place = [
        step.run_id,
        role,
        step.generation,
        step.experiment_id,
        step.number,
        max_tokens,
        hashlib.sha256(prompt.encode()).hexdigest(),
    ]
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()


def _config(role: str, step: Step, candidate: str) -> dict[str, Any]:
    """Names, tags and metadata that make a traced run readable."""
    return {
        "run_name": role,
        "tags": [role, f"run:{step.run_id}", f"generation:{step.generation}"],
        "metadata": {
            "run": step.run_id,
            "generation": step.generation,
            "experiment": step.experiment_id,
            "node": role,
            "number": step.number,
            "candidate": candidate,
        },
    }
