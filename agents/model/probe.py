"""Capabilities of an endpoint, found by one tiny request a JSON mode. For `doctor`, outside of ledger and budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel

from agents.model.conversation import Message
from agents.model.endpoint import Endpoint, add
from agents.model.structured_output import JSON_MODES, ReplyError, instruction, read_json, response_format
from agents.model.tools import PONG, QUESTION, QUESTION_TOKENS, calls_a_tool
from agents.model.transport import NOT_A_COMPLETION, Options, Rejected, Transport, cause_of
from records.errors import ModelRefused, ModelUnreachable
from records.experiment import Usage

PROBE_TOKENS = 512  # enough for a model that thinks before it says three words


class Pong(BaseModel):
    """The smallest typed answer."""

    answer: str


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

    @property
    def advice(self) -> str:
        """One sentence on what to do, empty when all is well."""
        if self.models and self.model not in self.models:
            return f"the endpoint does not list the model {self.model}; it lists {', '.join(self.models[:8])}"
        if not self.json_modes:
            return f"the model {self.model} answers, but not in JSON; use a larger one for the planner"
        return ""


def probe(endpoint: Endpoint, sleep: Callable[[float], None] = time.sleep) -> Capabilities:
    """Ask for a tiny answer in each JSON mode. ModelUnreachable or ModelRefused say what is wrong with the endpoint."""
    transport = Transport(replace(endpoint, retries=min(endpoint.retries, 1)), sleep)
    listed = listed_models(transport)
    options = Options(token_field="max_completion_tokens" if endpoint.is_openai else "max_tokens")
    talk = (Message("system", "You are being tested."), Message("user", f"Say pong. {instruction(Pong)}"))
    works, usage, seconds, counts = list[str](), Usage(), 0.0, True
    for json_mode in reversed(range(len(JSON_MODES))):
        started = time.monotonic()
        try:
            while True:
                asked = replace(options, json_mode=json_mode)
                try:
                    raw = transport.send(
                        endpoint.model,
                        talk,
                        asked,
                        response_format(json_mode, Pong),
                        PROBE_TOKENS,
                        {"run_name": "probe", "tags": ["probe"]},
                    )
                    break
                except Rejected as refusal:
                    lower = refusal.adapt(asked, json_mode < 3)
                    if lower is None and json_mode == 3:
                        raise ModelRefused(
                            f"the endpoint {endpoint.address} refused a plain request: {refusal.text}; "
                            "check the model name"
                        ) from None
                    if lower is None or lower.json_mode != json_mode:
                        raise
                    options = lower
        except Rejected:
            continue
        seconds = seconds if seconds > 0 else time.monotonic() - started
        usage = add(usage, raw.usage)
        counts = counts and raw.counted
        try:
            read_json("" if raw.is_cut else raw.text, Pong)
        except ReplyError:
            continue
        works.insert(0, JSON_MODES[json_mode])
    told, spent = _calls_tools(transport, options)
    return Capabilities(
        endpoint.address, endpoint.model, listed, tuple(works), counts, seconds, add(usage, spent), told
    )


def _calls_tools(transport: Transport, options: Options) -> tuple[bool, Usage]:
    """Ask the question of agents/model/tools.py; a refusal means no."""
    config = {"run_name": "probe", "tags": ["probe"]}
    model = transport.endpoint.model
    try:
        raw = transport.send(model, QUESTION, options, None, QUESTION_TOKENS, config, [PONG.document()])
    except (Rejected, ModelRefused):
        return False, Usage()
    return calls_a_tool(raw), raw.usage


def listed_models(transport: Transport) -> tuple[str, ...]:
    """Names the endpoint lists; empty where it does not list any."""
    import openai

    endpoint = transport.endpoint
    client = openai.OpenAI(
        api_key=endpoint.key_to_send.get_secret_value(),
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=min(endpoint.timeout_s, 20.0),
    )
    try:
        return tuple(sorted(model.id for model in client.models.list()))
    except openai.APIConnectionError as error:
        raise ModelUnreachable(
            f"nothing answers at {endpoint.address} ({cause_of(error)}); "
            "check OPENAI_BASE_URL and that the server is running"
        ) from None
    except openai.APIStatusError as error:
        if error.status_code in (401, 403):
            raise transport.refused(error.status_code, "") from None
        return ()
    except (openai.OpenAIError, *NOT_A_COMPLETION):
        return ()
