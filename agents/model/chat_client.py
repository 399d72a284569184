"""LangChain's client for chat completions, with the tool calls of an answer kept as the model wrote them.

LangChain reads the arguments of a call itself. Arguments that are JSON but no object make it raise, and the answer,
which is paid for, is lost; here they are kept for whoever offered the tool to complain about.
"""

from __future__ import annotations

import json
from typing import Any

import openai
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI

from agents.model.usage import plain_usage

NO_CLIENT = object()  # for the way of asking that is not used: its client would be made with the other one
TOLD = "told_usage"  # there too: usage and service tier as the server wrote them
ASKED = "asked_tools"  # in a message's additional_kwargs: id, name and arguments of each call


class ToolChat(ChatOpenAI):
    """ChatOpenAI for one model of one endpoint."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        document = response if isinstance(response, dict) else response.model_dump(warnings=False)
        taken = [_take_out(choice) for choice in document.get("choices") or ()]
        usage, tier = document.get("usage"), document.get("service_tier")
        plain = plain_usage(usage)  # what is no count would make LangChain raise, and lose an answer that is paid for
        document = {**document, "usage": plain} if plain else {n: v for n, v in document.items() if n != "usage"}
        made = super()._create_chat_result(document, generation_info)
        for generation, (calls, refusal) in zip(made.generations, taken, strict=True):
            generation.message.additional_kwargs |= {ASKED: calls, TOLD: (usage, tier), "refusal": refusal}
        return made


def _take_out(choice: Any) -> tuple[list[tuple[str, str, str]], str]:
    """Remove the calls of one choice and return them with the refusal, whatever shape a server gave them."""
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return [], ""
    found = []
    listed = message.pop("tool_calls", None)
    for number, call in enumerate(listed if isinstance(listed, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        said = function if isinstance(function, dict) else {}
        arguments = said.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
        named = call.get("id") if isinstance(call, dict) else None
        found.append((str(named or f"call_{number}"), str(said.get("name") or ""), text))
    return found, str(message.get("refusal") or "")
