"""The models of an endpoint as far as they are known: forms that were taken, sizes that were learnt, who is down."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.model.endpoint import Endpoint
from agents.model.endpoint_memory import EndpointMemory
from agents.model.forms import Forms
from agents.model.prompt_fit import ModelSizes

DOWN_S = 900.0  # a model that could not be had is asked last for so long


@dataclass
class ModelFacts:
    """The state of one model."""

    forms: Forms
    sizes: ModelSizes = field(default_factory=ModelSizes)
    has_answered: bool = False
    down_until: float = 0.0


class KnownModels:
    """Shared by all threads; forms outlive the session where there is a memory."""

    def __init__(self, endpoint: Endpoint, memory: EndpointMemory) -> None:
        """Nothing is known but what the memory holds."""
        self._endpoint, self._memory = endpoint, memory
        self._lock = threading.Lock()
        self._known: dict[str, ModelFacts] = {}

    def of(self, model: str) -> ModelFacts:
        """Return a copy of the state of one model."""
        with self._lock:
            return replace(self._of(model))

    def has_answered(self) -> bool:
        """Tell whether the endpoint answered in this session, by whichever model."""
        with self._lock:
            return any(facts.has_answered for facts in self._known.values())

    def answered(self, model: str, forms: Forms, sizes: ModelSizes) -> None:
        """Keep the forms and sizes with which an answer came."""
        with self._lock:
            facts = self._of(model)
            merged = forms.merged(facts.forms)
            is_new = merged != facts.forms or not facts.has_answered
            sizes = sizes.narrowed(facts.sizes.window, facts.sizes.answer)
            self._known[model] = ModelFacts(merged, sizes, True)
        if is_new:
            self.remember(model)

    def remember(self, model: str) -> None:
        """Keep the forms for later runs."""
        self._memory.remember(self._endpoint.address, model, self.of(model).forms)

    def simplify(self, model: str, forms: Forms) -> None:
        """Keep forms that were found too full in another way than by a refusal."""
        with self._lock:
            facts = self._of(model)
            facts.forms = facts.forms.merged(forms)

    def pin(self, model: str, forms: Forms) -> None:
        """Ask in these forms from now on, simpler or not."""
        with self._lock:
            self._of(model).forms = forms

    def fresh(self) -> Forms:
        """Return the forms of an endpoint of which nothing is known."""
        return Forms(token_field=1) if self._endpoint.is_openai else Forms()

    def mark_down(self, model: str) -> None:
        """Ask a model last for a while."""
        with self._lock:
            self._of(model).down_until = time.monotonic() + DOWN_S

    def is_down(self, model: str) -> bool:
        """Tell whether the model could not be had a short while ago."""
        with self._lock:
            return self._of(model).down_until > time.monotonic()

    def in_order(self, models: Sequence[str]) -> list[str]:
        """List the models in the order in which they are asked: those that could not be had lately come last."""
        return sorted(dict.fromkeys(models), key=self.is_down)

    def _of(self, model: str) -> ModelFacts:
        if model not in self._known:
            stored = self._memory.forms(self._endpoint.address, model)
            self._known[model] = ModelFacts(stored.merged(self.fresh()) if stored else self.fresh())
        return self._known[model]
