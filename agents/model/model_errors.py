"""Faults that nothing here can fix, as errors in one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping

from agents.model.conversation import RawReply
from agents.model.endpoint import Endpoint
from agents.model.faults import Fault
from agents.model.patience import CallPatience
from records.errors import ModelDeclined, ModelError, ModelRefused, ModelUnreachable, TruncatedReply
from records.quantity import counted

ADVICE: Mapping[int, str] = {
    400: "check the model name and the token limit",
    401: "check the key",
    402: "add credit or use another key",
    403: "check what the key may use",
    404: "check the base URL and the model name",
    405: "check the base URL",
    407: "sign in to the proxy",
    413: "check the model name and the token limit",
    422: "check the model name and the token limit",
}


class NoRoom(ModelRefused):
    """The model's window has no room for the prompt and its answer."""


def error_of(endpoint: Endpoint, fault: Fault, patience: CallPatience, lost: int) -> ModelError:
    """Make the error of a question that ends with this fault."""
    if fault.kind == "declined":
        return ModelDeclined(f"a filter of {endpoint.address} refuses this prompt: {fault.text}", lost)
    if fault.kind == "late":
        return ModelUnreachable(
            f"no answer from the model's endpoint {endpoint.address} within {endpoint.timeout_s:g} s, in "
            f"{counted(patience.asked, 'try', 'tries')} (timed out); allow more time or fewer tokens an answer, then "
            "resume the run",
            lost,
        )
    if fault.kind == "passing":
        return ModelUnreachable(_unreachable(endpoint, fault, patience), lost)
    if fault.kind == "odd" and (not fault.status or fault.status < 400):
        return ModelRefused(
            f"the answer of {endpoint.address} is not a chat completion ({fault.text}); check that the base URL "
            "is that of an OpenAI-compatible API (most end in /v1)",
            lost,
        )
    return refused(endpoint, fault, lost)


def refused(endpoint: Endpoint, fault: Fault, lost: int = 0) -> ModelRefused:
    """Make the error for a refusal that no second request changes."""
    status = f"with HTTP {fault.status}" if fault.status else ""
    # The server's own words about a key may quote it.
    detail = f": {fault.text}" if fault.text and fault.status not in (401, 403) else ""
    remedy = ADVICE.get(fault.status, "check the base URL, the key and the model name")
    if fault.is_credit:
        detail, remedy = ": the account has no credit left", "add credit or use another key"
    elif fault.status in (301, 302, 303, 307, 308):
        detail, remedy = ": it points elsewhere", "check the base URL"
    outcome = f"refused the request {status}".rstrip() if fault.status else "cannot be used"
    return ModelRefused(
        f"the model's endpoint {endpoint.address} {outcome}{detail}; {remedy}", lost, fault.kind == "account"
    )


def _unreachable(endpoint: Endpoint, fault: Fault, patience: CallPatience) -> str:
    if fault.after_s is not None and fault.after_s > patience.most_s - patience.waited_s:
        return f"the endpoint {endpoint.address} asks to wait {fault.after_s:.0f} s; resume the run then"
    return (
        f"no answer from the model's endpoint {endpoint.address} after {counted(patience.asked, 'try', 'tries')} "
        f"({fault.text}); check that it is up and reachable, then resume the run"
    )


def cut_off(role: str, raw: RawReply) -> TruncatedReply:
    """Make the error for an answer that was cut off twice, by the token limit or for another reason."""
    reason = raw.finish_reason.lower()
    if not any(word in reason for word in ("length", "max", "limit")):
        return TruncatedReply(f"the {role}'s answer was cut off twice by the endpoint ({reason}); use another model")
    return TruncatedReply(
        f"the {role}'s answer was cut off at {raw.limit} tokens; allow more tokens "
        "an answer in the settings or use another model, then resume the run"
    )
