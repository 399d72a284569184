"""The model's endpoint: address, key, model of each role, limits and prices. The key never leaves a SecretStr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from agents.model.price import Price as Price
from records.address import secrets_of
from records.errors import SettingsError
from records.experiment import Usage
from records.redaction import without

ROLES = ("selector", "retriever", "planner", "coder", "critic")
SHORTEST_SECRET = 12  # local servers take any word as key, and that word may stand in an honest answer


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint. `models` and `prices` override the defaults by role and by model name."""

    base_url: str
    model: str
    api_key: SecretStr = field(default_factory=lambda: SecretStr(""))
    models: Mapping[str, str] = field(default_factory=dict)
    price: Price = field(default_factory=Price)
    prices: Mapping[str, Price] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()  # models that are asked, in this order, where the role's own cannot be had
    timeout_s: float = 600.0  # for a whole call, from its first byte to its last
    max_tokens: int = 16384
    tools: Literal["auto", "calls", "text"] = "auto"  # how the coder asks for its tools; auto asks the model once a run
    temperature: float | None = None  # some models refuse any value, so none is sent unless asked
    effort: str = ""  # of reasoning; none is sent unless asked
    retries: int = 4  # further tries while the endpoint never answered; 0: none, whenever
    patience_s: float = 6 * 3600.0  # for faults that pass, once it has answered
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    backoff_s: float = 1.0  # first wait; it doubles, with jitter
    max_wait_s: float = 60.0  # longest single wait where the server names none
    secrets: tuple[str, ...] = field(default=(), repr=False)  # all others that the program holds

    def __post_init__(self) -> None:
        """Refuse values that could only fail later."""
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError("the model's base URL must look like https://host/v1; set OPENAI_BASE_URL")
        if not self.model.strip():
            raise SettingsError("no model name is set; set OPENAI_MODEL or --model")
        if unknown := sorted(set(self.models) - set(ROLES)):
            raise SettingsError(f"there is no role {', '.join(unknown)}; roles are {', '.join(ROLES)}")
        if self.timeout_s <= 0 or self.max_tokens <= 0 or self.retries < 0 or self.patience_s < 0:
            raise SettingsError(
                "the model's time-out and token limit must be positive, retries and patience zero or more"
            )
        if self.is_openai and not self.api_key.get_secret_value():
            raise SettingsError(
                "no key is set for api.openai.com; set OPENAI_API_KEY, or OPENAI_BASE_URL for another "
                "endpoint, or use --author playbook, which needs neither"
            )

    @property
    def is_openai(self) -> bool:
        """True for OpenAI's own service, which requires newer parameter names than most others."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    @property
    def address(self) -> str:
        """The URL for people: no user, no password, no query."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path.rstrip('/')}"

    @property
    def key_to_send(self) -> SecretStr:
        """The key, or a dummy: the client insists on one even where the server does not."""
        return self.api_key if self.api_key.get_secret_value() else SecretStr("none")

    def model_for(self, role: str) -> str:
        """Return the model that plays this role; the first where several take turns."""
        return self.models_for(role)[0]

    def models_for(self, role: str) -> tuple[str, ...]:
        """Return the models of a role; the coder may have several, with commas between their names."""
        setting = self.models.get(role, self.model)
        several = tuple(name.strip() for name in setting.split(",") if name.strip()) if role == "coder" else ()
        return several or (setting,)

    def price_of(self, model: str) -> Price:
        """Return the price of one model."""
        return self.prices.get(model, self.price)

    def hide(self, text: str) -> str:
        """Return the text without any secret, which a server may have echoed, in whatever form it did.

        A placeholder such as "none" stays.
        """
        keys = tuple(key for key in (self.api_key.get_secret_value(), *self.secrets) if len(key) >= SHORTEST_SECRET)
        return without(text, (*keys, *secrets_of(self.base_url)), "[key]")


def add(left: Usage, right: Usage) -> Usage:
    """Sum of two usages."""
    return Usage(
        left.prompt_tokens + right.prompt_tokens,
        left.completion_tokens + right.completion_tokens,
        left.usd + right.usd,
        left.cached_tokens + right.cached_tokens,
        left.reasoning_tokens + right.reasoning_tokens,
    )
