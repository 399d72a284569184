"""Capabilities of an endpoint, found by one tiny request a JSON mode. For `doctor`, outside of ledger and budget."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel

from agents.model.conversation import Message, RawReply
from agents.model.endpoint import Endpoint, add
from agents.model.endpoint_memory import EndpointMemory
from agents.model.faults import Fault
from agents.model.inquiry import ModelQuestion
from agents.model.model_errors import refused
from agents.model.provider import Provider
from agents.model.structured_output import JSON_MODES, ReplyError, clean, instruction, read_json
from agents.model.tools import PONG, QUESTION, QUESTION_TOKENS, calls_a_tool
from agents.model.transport import Transport
from agents.model.wire import mapping
from records.errors import ModelRefused, ModelUnreachable
from records.experiment import Usage

PROBE_TOKENS = 512  # enough for a model that thinks before it says three words
QUICK_S = 30.0  # a person waits
CALL_S = 120.0
LIST_S = 20.0  # for the list of models
CONFIG = {"run_name": "probe", "tags": ["probe"]}
WIRES = ("chat completions", "Responses")


class Pong(BaseModel):
    """The smallest typed answer."""

    answer: str


TALK = (Message("system", "You are being tested."), Message("user", f"Say pong. {instruction(Pong)}"))


@dataclass(frozen=True)
class Capabilities:
    """Capabilities found. `json_modes` are the ways of asking for JSON that gave JSON, best first."""

    address: str
    model: str
    models: tuple[str, ...]  # as the endpoint lists them; empty where it does not
    json_modes: tuple[str, ...]
    counts_tokens: bool
    seconds: float  # of the first answered request
    usage: Usage
    calls_tools: bool = False  # else tools are asked for in blocks of text
    wire: str = WIRES[0]
    window: int | None = None  # tokens, where a refusal told

    @property
    def advice(self) -> str:
        """One sentence on what to do, empty when all is well."""
        if self.models and self.model not in self.models:
            return f"the endpoint does not list the model {self.model}; it lists {', '.join(self.models[:8])}"
        if not self.json_modes:
            return f"the model {self.model} answers, but not in JSON; use a larger one for the planner"
        return ""


def probe(
    endpoint: Endpoint, sleep: Callable[[float], None] | None = None, memory: EndpointMemory | None = None
) -> Capabilities:
    """Ask for a tiny answer in each JSON mode. ModelUnreachable or ModelRefused say what is wrong with the endpoint."""
    quick = replace(
        endpoint,
        retries=min(endpoint.retries, 1),
        patience_s=min(endpoint.patience_s, QUICK_S),
        timeout_s=min(endpoint.timeout_s, CALL_S),
    )
    provider, model = Provider(quick, sleep, memory), endpoint.model
    listed = listed_models(provider.transport)
    provider.models.pin(model, provider.models.fresh())  # whatever is remembered: a person asks
    works, usage, counts, seconds = list[str](), Usage(), True, 0.0
    for json_mode in reversed(range(len(JSON_MODES))):
        provider.models.pin(model, replace(provider.models.of(model).forms, json_mode=json_mode))
        started = time.monotonic()
        try:
            raw = provider.ask(ModelQuestion(model, TALK, PROBE_TOKENS, Pong), CONFIG)
        except ModelRefused:
            if json_mode == len(JSON_MODES) - 1:  # a plain request
                raise
            continue
        seconds = seconds if seconds > 0 else time.monotonic() - started
        usage, counts = add(usage, raw.usage), counts and raw.counted
        if provider.models.of(model).forms.json_mode == json_mode and _is_pong(raw):
            works.insert(0, JSON_MODES[json_mode])
    best = JSON_MODES.index(works[0]) if works else len(JSON_MODES) - 1
    forms = replace(provider.models.of(model).forms, json_mode=best)
    provider.models.pin(model, forms)
    has_tools, spent = _calls_tools(provider, model)
    provider.models.remember(model)
    return Capabilities(
        endpoint.address,
        model,
        listed,
        tuple(works),
        counts,
        seconds,
        add(usage, spent),
        has_tools,
        WIRES[forms.wire],
        provider.models.of(model).sizes.window,
    )


def _is_pong(raw: RawReply) -> bool:
    try:
        read_json("" if raw.is_cut else raw.text, Pong)
    except ReplyError:
        return False
    return True


def _calls_tools(provider: Provider, model: str) -> tuple[bool, Usage]:
    """Ask the question of agents/model/tools.py; a refusal means no."""
    try:
        raw = provider.ask(ModelQuestion(model, QUESTION, QUESTION_TOKENS, None, (PONG.document(),)), CONFIG)
    except (ModelRefused, ModelUnreachable):
        return False, Usage()
    return calls_a_tool(raw), raw.usage


def listed_models(transport: Transport) -> tuple[str, ...]:
    """Names the endpoint lists; empty where it does not list any."""
    endpoint = transport.endpoint
    try:
        answer = transport.exchange.get("/models", min(endpoint.timeout_s, LIST_S))
    except Fault as fault:
        if fault.kind == "odd":
            return ()
        if fault.kind == "account":
            raise refused(endpoint, fault) from None
        raise ModelUnreachable(
            f"nothing answers at {endpoint.address} ({fault.text}); "
            "check OPENAI_BASE_URL and that the server is running"
        ) from None
    if answer.status in (401, 403):
        raise refused(endpoint, Fault("account", "", answer.status))
    try:
        rows = mapping(json.loads(answer.body)).get("data")
    except (ValueError, RecursionError):
        return ()
    names = (mapping(row).get("id") for row in rows) if isinstance(rows, list) else ()
    return tuple(sorted(clean(name) for name in names if isinstance(name, str)))
