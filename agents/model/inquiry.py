"""One question on its way to an answer: the forms and the size that it has by now, and the faults it met.

Adaptations are counted and monotone, so that no request is repeated for one of them; waits have an end in time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from agents.author import Step
from agents.model.conversation import Message
from agents.model.endpoint import Endpoint
from agents.model.faults import Fault
from agents.model.forms import MOST_STEPS, named_part, names_tools
from agents.model.known_models import KnownModels, ModelFacts
from agents.model.model_errors import NoRoom, error_of
from agents.model.patience import CallPatience
from agents.model.prompt_fit import LEAST, FittedPrompt, ModelSizes, fit, size_of
from agents.model.structured_output import response_format
from agents.model.tools import ToolsRefused
from agents.model.window import Size, size_in
from agents.model.wire import ModelRequest
from records.errors import ModelError

MOST_FITS = 2  # so that a refused size costs three requests at most
ABSENT = frozenset({404, 405, 501})


@dataclass(frozen=True)
class ModelQuestion:
    """A role's question, before anything is known of the server. `least`: tokens that the answer must have room for."""

    model: str
    talk: tuple[Message, ...]
    max_tokens: int
    schema: type[BaseModel] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    least: int = 0
    patience_s: float | None = None  # shorter than the endpoint's


class Inquiry:
    """A question that is being asked."""

    def __init__(self, endpoint: Endpoint, models: KnownModels, question: ModelQuestion) -> None:
        """Raise NoRoom where the model's window is known to be too small."""
        self.endpoint, self.models, self.question = endpoint, models, question
        facts = models.of(question.model)
        self.forms, self.sizes = facts.forms, facts.sizes
        longest = endpoint.patience_s if question.patience_s is None else min(question.patience_s, endpoint.patience_s)
        self.patience = CallPatience(endpoint, models.has_answered(), longest)
        self.steps = self.fits = self.lost = 0
        self.first: Fault | None = None  # of the interface that was tried before this one
        self.fitted = self._fit()

    @property
    def extra_bytes(self) -> int:
        """Bytes of what goes with the conversation."""
        form = response_format(self.forms.json_mode, self.question.schema)
        return len(json.dumps(self.question.tools or "")) + len(json.dumps(form or ""))

    def request(self) -> ModelRequest:
        """Return the request as it is to be sent now."""
        end, question = self.endpoint, self.question
        reply_format = response_format(self.forms.json_mode, question.schema)
        fitted = self.fitted
        return ModelRequest(
            question.model,
            fitted.talk,
            fitted.max_tokens,
            self.forms,
            reply_format,
            question.tools,
            end.temperature,
            end.effort,
        )

    def meet(self, fault: Fault) -> float:
        """Change the request, or give the seconds until it can be asked again; ModelError where neither helps."""
        self.lost += fault.is_sent
        facts = self.models.of(self.question.model)
        if self.models.has_answered():  # by any model: key and address are those of all
            fault = fault.known_good()
        if self.first is not None and fault.kind != "part":  # neither interface takes it: the first one's words count
            raise self._error(self.first)
        if fault.kind == "window":
            self._narrow(fault)
        elif fault.kind == "part" or self._is_other_interface(fault, facts.has_answered):
            self._simplify(fault)
        elif fault.kind in ("passing", "late", "odd") and not self.patience.is_over(fault):
            return self.patience.next_wait_s(fault)
        elif fault.kind not in ("model", "odd") or not self._starts_over(facts):
            raise self._error(fault)
        return 0.0

    def _starts_over(self, facts: ModelFacts) -> bool:
        """Ask in the fullest forms again where those that a memory held are refused: the server is another by now."""
        fresh = self.models.fresh()
        if facts.has_answered or facts.forms == fresh or self.steps:
            return False
        self.steps += 1
        self.models.pin(self.question.model, fresh)
        self.forms = fresh
        self.fitted = self._fit()
        return True

    def _is_other_interface(self, fault: Fault, has_answered: bool) -> bool:
        """Tell whether a path may be missing rather than a model."""
        names_model = "model" in fault.whole.lower() and "response" not in fault.whole.lower()
        return fault.status in ABSENT and not has_answered and self.forms.wire == 0 and not names_model

    def _simplify(self, fault: Fault) -> None:
        request = self.request()
        if fault.kind == "part":
            part = named_part(fault.whole, fault.param, request.parts(), self.forms)
        else:
            part, self.first = "wire", fault
        simpler = self.forms.simpler(part) if part else None
        self.steps += 1
        if simpler is None or self.steps > MOST_STEPS:
            if self.question.tools and names_tools(fault.whole):
                raise ToolsRefused(f"the model's endpoint {self.endpoint.address} refuses tools: {fault.text}")
            raise self._error(self.first or fault)
        if part != "wire":
            self.first = None
        self.forms = simpler
        self.fitted = self._fit()

    def _narrow(self, fault: Fault) -> None:
        """Learn the size from a refusal, and fit the request to it; an unknown one is halved twice."""
        self.fits += 1
        if self.fits > MOST_FITS:
            raise self._error(fault)
        bytes_now = size_of(self.fitted.talk) + self.extra_bytes
        answer_tokens, prompt = self.fitted.max_tokens, bytes_now / self.sizes.bytes_per_token
        size = size_in(fault.whole, answer_tokens, prompt) or Size()
        sizes = self.sizes
        if size.prompt:
            sizes = replace(sizes, bytes_per_token=min(8.0, max(1.0, bytes_now / size.prompt)))
        learnt = sizes.narrowed(size.window, size.answer)
        is_new = self.fits == 1 and (learnt.window, learnt.answer) != (self.sizes.window, self.sizes.answer)
        # A size that leaves no room was misread, or there is none: the next request finds out.
        for tried in [learnt] * is_new + [
            self._less(learnt, answer_tokens, prompt),
            self._less(sizes, answer_tokens, prompt),
        ]:
            fitted = self._fitted(tried)
            if fitted is not None:
                self.sizes, self.fitted = tried, fitted
                return
        raise self._error(fault)

    def _less(self, sizes: ModelSizes, answer_tokens: int, prompt: float) -> ModelSizes:
        """Sizes below what was just refused, where its words teach nothing new."""
        answer = max(LEAST, answer_tokens // 4)
        if self.fits == 1:
            return sizes.narrowed(None, answer)
        return sizes.narrowed(int(0.6 * prompt) + answer, answer)

    def _fit(self) -> FittedPrompt:
        question = self.question
        fitted = self._fitted(self.sizes)
        if fitted is None:
            raise NoRoom(
                f"the window of the model {question.model} is too small: {self.sizes.window or self.sizes.answer} "
                "tokens have no room for the prompt with all left out that can be, and its answer; serve it with a "
                "larger window, or use another model",
                self.lost,
            )
        return fitted

    def _fitted(self, sizes: ModelSizes) -> FittedPrompt | None:
        question = self.question
        return fit(question.talk, self.extra_bytes, question.max_tokens, sizes, question.least)

    def _error(self, fault: Fault) -> ModelError:
        error = error_of(self.endpoint, fault, self.patience, self.lost)
        if not error.is_account:
            self.models.mark_down(self.question.model)
        return error


def call_key(role: str, step: Step, prompt: str, max_tokens: int) -> str:
    """SHA-256 of a request's place in its run and of its text."""
    identity = [
        step.run_id,
        role,
        step.generation,
        step.experiment_id,
        step.number,
        max_tokens,
        hashlib.sha256(prompt.encode()).hexdigest(),
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def trace_config(role: str, step: Step, candidate: str) -> dict[str, Any]:
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
