"""LangChain's chat model around our own request, so that a traced run shows each request as it shows any other.

LangChain's and OpenAI's own clients parse what they receive: a tool call whose arguments are no object, a count that is
no number, an escape that is half a character make them raise, and the answer, which is paid for, is lost. Here they see
an answer that was read already (agents/model/transport.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agents.model.conversation import RawReply

NO_KEY: Any = SecretStr("none")  # LangChain insists on one
NO_CLIENT: Any = object()  # none of LangChain's is used, and each would read the certificates again
SENDING: ContextVar[Callable[[], RawReply]] = ContextVar("SENDING")


class ToolChat(ChatOpenAI):
    """ChatOpenAI for one model of one endpoint, whose requests are ours."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raw = SENDING.get()()
        used = raw.usage
        counted: Any = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.prompt_tokens + used.completion_tokens,
        }
        calls = [{"name": c.name, "arguments": c.arguments, "id": c.id} for c in raw.calls]
        extra: dict[str, Any] = {"calls": calls} if calls else {}
        message = AIMessage(raw.text, additional_kwargs=extra, usage_metadata=counted)
        token_usage = {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
        generation = ChatGeneration(message=message, generation_info={"finish_reason": raw.finish_reason})
        return ChatResult(
            generations=[generation], llm_output={"token_usage": token_usage, "model_name": self.model_name}
        )


def client(model: str, address: str) -> ToolChat:
    """Make a client without a connection of its own; traces hold its fields, so it has no key and no password."""
    return ToolChat(
        model=model,
        base_url=address,
        api_key=NO_KEY,
        max_retries=0,
        use_responses_api=False,
        disable_streaming=True,  # a graph that streams would switch it on, and lose the token counts
        client=NO_CLIENT,
        root_client=NO_CLIENT,
        async_client=NO_CLIENT,
        root_async_client=NO_CLIENT,
    )


def sent(
    chat: ToolChat, turns: Any, config: Mapping[str, Any], options: Mapping[str, Any], send: Callable[[], RawReply]
) -> RawReply:
    """Have `send` called within a run of LangChain's; its answer, or its exception."""
    replies: list[RawReply] = []

    def once() -> RawReply:
        replies.append(send())
        return replies[-1]

    token = SENDING.set(once)
    try:
        chat.invoke(turns, config=dict(config), **options)  # type: ignore[arg-type]
    finally:
        SENDING.reset(token)
    return replies[-1]
