"""The one gateway to a language model. Every question of every agent goes through `Gateway.ask`.

A question is one to three paid requests: the first, one with the token limit doubled when the answer was cut
off, and one with the complaint when it could not be read. Each request has its own key in the ledger; its answer is
stored before it is used, so that a resumed run finds it and never pays twice.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from agents.author import Step
from agents.model.conversation import Message, RawReply, transcribed
from agents.model.endpoint import Endpoint, add
from agents.model.endpoint_memory import EndpointMemory
from agents.model.fare import AnswerLengths, Fare, with_answer
from agents.model.forms import weaker_json
from agents.model.inquiry import ModelQuestion, call_key, trace_config
from agents.model.model_choice import model_of
from agents.model.model_errors import NoRoom, cut_off
from agents.model.price import most_prompt_tokens
from agents.model.provider import Provider
from agents.model.structured_output import Form, ReplyError, clean, instruction, objects
from agents.model.tools import PONG, QUESTION, QUESTION_TOKENS, Tool, ToolsRefused, calls_a_tool
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.errors import (
    BudgetExhausted,
    MalformedReply,
    ModelDeclined,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    TruncatedReply,
    Unanswered,
)
from records.experiment import ModelCall, Usage
from records.ledger import Ledger
from records.quantity import given
from records.run_meter import RunMeter
from records.stopping import StopSignal

Value = TypeVar("Value")
LEAST_ANSWER = 1024  # tokens that a role's first answer needs room for
QUOTED_CHARS = 20_000  # of an unreadable answer, when it is shown to its writer again
OPTIONAL = frozenset({"selector", "retriever", "critic"})  # roles with a rule that decides where no answer comes
OPTIONAL_S = 600.0  # that such a role is waited for
NEXT_S = 120.0  # that a model is waited for where there is a next one
UNANSWERED = "unanswered"  # in place of the reason of an answer's end


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
        sleep: Callable[[float], None] | None = None,
        meter: RunMeter | None = None,
        memory: EndpointMemory | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is sent yet. `meter` knows the limits of a whole run; without one there is the budget alone."""
        self.endpoint = endpoint
        self.ledger = ledger
        self.artefacts = artefacts
        self._budget = Allowance(budget_usd)
        self._meter = meter
        self._answers = AnswerLengths()
        self._excess: dict[str, float] = {}  # of a model's prompt tokens over what they were reserved as
        self.provider = Provider(endpoint, sleep, memory, tell, StopSignal() if meter is None else meter.stop)
        self._lock = threading.Lock()
        self._question = threading.Lock()  # parallel experiments ask whether tools are called, and one pays

    def ask(
        self, role: str, step: Step, messages: Sequence[Message], form: Form[Value], candidate: str = ""
    ) -> Reply[Value]:
        """One question in the asked form; at most three requests are paid for."""
        talk = [Message(m.role, self._told(m.content), spare=m.spare) for m in messages]
        if form.schema is not None:
            talk[-1] = replace(talk[-1], content=f"{talk[-1].content}\n\n{instruction(form.schema)}")
        opening, used, max_tokens, least = tuple(talk), Usage(), self.endpoint.max_tokens, 0
        mended = False
        while True:
            raw = self._ask_models(role, step, talk, max_tokens, candidate, form.schema, least=least)
            used = add(used, raw.usage)
            if raw.is_cut:
                if least:
                    raise cut_off(role, raw)
                max_tokens, least = 2 * max_tokens, raw.allowed(max_tokens) + 1
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
                    *opening,
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
        run_step = Step(step.run_id, 0)
        with self._question:
            try:
                return calls_a_tool(self._ask_models(role, run_step, QUESTION, QUESTION_TOKENS, "", tools=(PONG,)))
            except ModelRefused:  # where the endpoint is at fault, the next request says so
                return False

    def turn(
        self, role: str, step: Step, messages: Sequence[Message], tools: Sequence[Tool], candidate: str = ""
    ) -> RawReply:
        """At most two requests: the second with twice the tokens, after an answer that was cut off."""
        talk = [replace(m, content=self._told(m.content)) for m in messages]
        max_tokens = self.endpoint.max_tokens
        first = self._ask_models(role, step, talk, max_tokens, candidate, tools=tools)
        if not first.is_cut:
            return first
        try:
            least = first.allowed(max_tokens) + 1
            return self._ask_models(role, step, talk, 2 * max_tokens, candidate, tools=tools, least=least)
        except NoRoom:
            return first

    def _told(self, text: str) -> str:
        """Return a prompt as it is stored and sent: what a task, a note or a kernel quotes may hold a key."""
        return self.endpoint.hide(clean(text))

    def _ask_models(
        self,
        role: str,
        step: Step,
        talk: Sequence[Message],
        max_tokens: int,
        candidate: str,
        schema: type[BaseModel] | None = None,
        tools: Sequence[Tool] = (),
        least: int = 0,
    ) -> RawReply:
        """Get the answer of the role's model, or of the next one of the list where that cannot be had."""
        preferred, first = model_of(self.ledger, role, step, self.endpoint.models_for(role)), None
        models = self.provider.models.in_order((preferred, *self.endpoint.fallbacks))
        for model in models:
            longest = min([*[OPTIONAL_S] * (role in OPTIONAL), *[NEXT_S] * (model != models[-1])], default=None)
            question = ModelQuestion(
                model, tuple(talk), max_tokens, schema, tuple(tool.document() for tool in tools), least, longest
            )
            try:
                raw = self._paid(role, step, question, candidate)
            except (ToolsRefused, BudgetExhausted):
                raise
            except (ModelRefused, ModelUnreachable, ModelDeclined) as error:
                first = first or error
                if error.is_account:
                    break
                continue
            if raw.finish_reason == UNANSWERED:
                raise Unanswered(raw.text)
            return raw
        assert first is not None
        if isinstance(first, NoRoom) and least:
            raise TruncatedReply(f"the {role}'s answer was cut off, and {first}")
        if role in OPTIONAL:
            raise self._gave_up(role, step, question, first)
        raise first

    def _gave_up(self, role: str, step: Step, question: ModelQuestion, why: ModelError) -> Unanswered:
        """Store that a role had no answer: a resumed run goes by its rule again, and meets its own records."""
        text = f"the {role} gave no answer, and its rule decides: {why}"
        call = self._call(role, step, question)
        if self.ledger.reserve(call).state != "done":
            reply = RawReply(text, UNANSWERED, question.model, Usage())
            self.ledger.settle(call.key, self.artefacts.put(reply.to_text()), Usage())
        return Unanswered(text)

    def _call(self, role: str, step: Step, question: ModelQuestion) -> ModelCall:
        """Return the question as the ledger keeps it. What of it is sent in the end does not change its key."""
        prompt = transcribed(question.talk)
        offered = json.dumps(question.tools) if question.tools else ""
        key = call_key(role, step, prompt + offered, question.max_tokens)
        call = ModelCall(key, step.run_id, role, question.model, self.artefacts.put(prompt), "reserved", 0.0)
        return replace(call, generation=step.generation, experiment_id=step.experiment_id, number=step.number)

    def _paid(self, role: str, step: Step, question: ModelQuestion, candidate: str) -> RawReply:
        """Get the stored answer of this very request, or a new one, stored before it is returned."""
        call = self._call(role, step, question)
        stored = self.ledger.call(call.key)
        if stored is None or stored.state != "done":
            prompt, offered = transcribed(question.talk), json.dumps(question.tools) if question.tools else ""
            tokens = most_prompt_tokens(len(prompt.encode()) + len(offered), len(question.talk))
            fare = self._fare(call, tokens, question)
            stored = fare.set_aside()
        if stored.state == "done" and stored.reply is not None:
            return RawReply.from_text(self.artefacts.text(stored.reply))
        try:
            raw = self.provider.ask(question, trace_config(role, step, candidate), fare)
        except ModelError:
            fare.give_back()  # what may have been billed was lost before
            raise
        except BaseException:
            fare.lose()
            raise
        self.ledger.settle(call.key, self.artefacts.put(raw.to_text()), raw.usage)
        self._learn(role, question.model, raw, stored.usage.prompt_tokens)
        return raw

    def _fare(self, call: ModelCall, prompt_tokens: int, question: ModelQuestion) -> Fare:
        """Compute the money of a request: of its longest answer, or of a shorter one where no more is left.

        None is sent whose answer would rather be cut off: money that is left is spent on the answers that it is
        likely to pay for, and no answer is asked for again with no more room than before.
        """
        price, excess = self.endpoint.price_of(call.model), self._excess.get(call.model, 1.0)
        prompt, most = math.ceil(excess * prompt_tokens), question.max_tokens
        with self._lock:
            likely = given(self._answers.likely(call.role), max(LEAST_ANSWER, most // 8))
        short = with_answer(call, price, prompt, int(min(most, max(likely, question.least))))
        return Fare(self.ledger, with_answer(call, price, prompt, most), short, self._most, self._check, self._left_s)

    def _learn(self, role: str, model: str, raw: RawReply, reserved_prompt: int) -> None:
        with self._lock:
            self._answers.add(role, raw.usage.completion_tokens, raw.is_cut)
            if reserved_prompt and raw.usage.prompt_tokens > reserved_prompt:  # a server that adds to what is asked
                more = raw.usage.prompt_tokens / reserved_prompt
                self._excess[model] = more * self._excess.get(model, 1.0)

    def _most(self) -> Allowance:
        return self._budget if self._meter is None else self._meter.allowance

    def _left_s(self) -> float:
        return math.inf if self._meter is None else self._meter.seconds_left()

    def _check(self) -> None:
        if self._meter is not None:
            self._meter.check()

    def _distrust(self, model: str, text: str, form: Form[Any]) -> None:
        """Take a weaker JSON mode: a server that was given a schema and returned no JSON does not support this one."""
        if form.schema is not None and len(text) < QUOTED_CHARS and not any(objects(text)):
            self.provider.models.simplify(model, weaker_json(self.provider.models.of(model).forms))
