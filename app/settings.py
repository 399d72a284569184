"""Settings: read once from the environment and `.env` in the current folder, then frozen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import AliasChoices, Field, PrivateAttr, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.kept_secrets import around
from records.address import secrets_of
from records.errors import SettingsError, UsageError

PREFIX = "KERNEL_SCIENTIST_"
OPENAI = "https://api.openai.com/v1"
ROLES = ("selector", "retriever", "planner", "coder", "critic")


def _cache_folder() -> Path:
    """Find the user's cache folder by the XDG convention."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "kernel-scientist"


class Settings(BaseSettings):
    """Every setting, with `KERNEL_SCIENTIST_` before its name in upper case unless an alias is given."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    runs_folder: Path = Path("runs")
    """Where runs are kept, one folder each."""
    cache_folder: Path = Field(default_factory=_cache_folder)
    """Compiled kernels and the compiler's own cache; may be deleted at any time."""
    cache_mib: int = Field(default=4096, ge=0)
    """Most that compiled kernels may take of the disk; a run removes what was not used for longest."""
    database: SecretStr | None = None
    """A Postgres database for the ledger, its artefacts and the checkpoints; files of the runs folder without one."""
    knowledge_folder: Path | None = None
    """The knowledge store; `knowledge` in the cache folder when not given."""
    target_file: Path | None = None
    """Own figures for a target and factors for the lab's times, as `calibrate --write` makes them."""
    cores: int | None = Field(default=None, ge=1)
    """Threads the lab may use; all of them when not given."""

    isolation: Literal["strict", "limits"] = "strict"
    """What a run needs around compiler and kernels: `strict` keeps files and network out of reach, `limits` may not."""

    api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("OPENAI_API_KEY", PREFIX + "API_KEY"))
    """Key of the model's endpoint (`OPENAI_API_KEY`)."""
    base_url: str | None = Field(default=None, validation_alias=AliasChoices("OPENAI_BASE_URL", PREFIX + "BASE_URL"))
    """Any OpenAI-compatible endpoint (`OPENAI_BASE_URL`); OpenAI's own when not given."""
    model: str = Field(default="gpt-5.1", validation_alias=AliasChoices("OPENAI_MODEL", PREFIX + "MODEL"))
    """Model of every role that has none of its own (`OPENAI_MODEL`)."""
    model_selector: str | None = None
    """Model that chooses base and reference kernels."""
    model_retriever: str | None = None
    """Model that phrases the literature queries."""
    model_planner: str | None = None
    """Model that plans experiments."""
    model_coder: str | None = None
    """Model that writes and repairs kernels."""
    model_critic: str | None = None
    """Model that reviews kernels before they are compiled."""
    model_fallbacks: str = ""
    """Models that are asked where a role's own cannot be had, in this order, by commas; of the same endpoint."""
    reasoning_effort: str = ""
    """Effort of reasoning that is asked of the model, such as `low`; the server's own when not given."""
    usd_per_million_prompt_tokens: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens; the price file's when not given, and $1.25 for a model that it lacks."""
    usd_per_million_completion_tokens: float | None = Field(default=None, ge=0)
    """Price of a million completion tokens; the price file's when not given, and $10 for a model that it lacks."""
    usd_per_million_cached_tokens: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens that the server had in its cache; that of the others when not known."""
    usd_per_million_reasoning_tokens: float | None = Field(default=None, ge=0)
    """Price of a million tokens of reasoning; that of the completion when not given."""
    price_file: Path | None = None
    """Prices of your own, in the form of the shipped `agents/model/prices.toml`, which counts for other models."""
    model_timeout_s: float = Field(default=600.0, gt=0)
    """How long one call to the model may take from its first byte to its last."""
    model_retries: int = Field(default=4, ge=0)
    """Further tries of an endpoint that never answered, for reasons that may pass; 0: none, also once it has."""
    model_patience_s: float = Field(default=6 * 3600.0, ge=0)
    """How long one question waits for an endpoint that has answered before and is out of order or busy."""
    model_requests_per_minute: int | None = Field(default=None, ge=1)
    """Most requests that are sent to the model in a minute; what the server's headers say holds without it."""
    model_tokens_per_minute: int | None = Field(default=None, ge=1)
    """Most tokens a minute, of prompts and of what answers may have."""
    max_completion_tokens: int = Field(default=32000, ge=256)
    """Most tokens one answer may have; the budget reserves their price before each call."""
    tools: Literal["auto", "calls", "text", "off"] = "auto"
    """How the coder uses its tools: by tool calls, in text, not at all, or as the model is found to answer."""
    tries: int = Field(default=4, ge=0, le=100)
    """Kernels that the coder may check in one experiment unless `--tries` says otherwise; 0 is without tools."""
    author_environment: str = ""
    """Variables of the environment that a program as author gets, by commas, such as its own key; none by default."""
    author_programs: str = ""
    """Programs that a request to a server may name as author, by commas; none by default."""
    embedding_model: str | None = None
    """Model for vectors of the literature: a name, a folder, `chroma` or `off`; by default one of the endpoint's."""
    embedding_base_url: str | None = None
    """OpenAI-compatible endpoint of the embedding model; the model's own when not given."""
    embedding_weight: float = Field(default=0.2, ge=0, le=10)
    """What a passage's vector counts beside its words, whose best counts 1; 0: words alone."""
    fetch_hosts: str = ""
    """Hosts that `knowledge add` may fetch pages from, by commas, `*.` for all below one; none by default."""
    usd_per_million_embedding_tokens: float = Field(default=0.02, ge=0)
    """Price of a million tokens of texts that get vectors; a run's queries count in its budget."""
    budget_usd: float = Field(default=5.0, ge=0)
    """What one run may spend on the model unless `--budget-usd` says otherwise."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Tokens of prompts and answers that one run may use; no limit when not given, as for the next four."""
    max_calls: int | None = Field(default=None, ge=0)
    """Requests to the model."""
    max_evaluations: int | None = Field(default=None, ge=0)
    """Compilations, estimates, verifications and benchmarks."""
    max_gpu_seconds: float | None = Field(default=None, ge=0)
    """Seconds that a GPU works on them."""
    max_wall_seconds: float | None = Field(default=None, ge=0)
    """Seconds that the run's processes may drive it."""

    worker_token: SecretStr | None = None
    """Token of a served worker, for `--on worker:HOST:PORT`: what is in its `--token-file`."""

    spool_key: SecretStr | None = None
    """Key that seals requests and results in a spool folder: what is in the workers' `--spool-key-file`."""

    ray_address: str = "auto"
    """Ray cluster of `--on ray`: HOST:PORT of its head, or `auto` for the one that this machine is part of."""
    ray_cache: str = "~/.cache/kernel-scientist"
    """Where a cluster's nodes keep compiled kernels; `~` is the home of the user that Ray runs as there."""
    ray_lab: int | None = Field(default=None, ge=1, le=256)
    """Lab stations that `--on ray:local` starts; one for each core when not given."""

    trust_tasks: bool = False
    """Run the code of tasks that are not shipped even where this machine cannot keep it from your files."""
    task_seconds: int = Field(default=60, ge=1, le=3600)
    """Processor time that one question to a `reference.py` that is not shipped may take."""
    task_gib: float | None = Field(default=None, ge=0.5, le=4096)
    """Memory that it may take; three quarters of the machine's when not given."""

    tracing: bool = Field(default=False, validation_alias=AliasChoices("LANGSMITH_TRACING", PREFIX + "TRACING"))
    """Send traces to LangSmith (`LANGSMITH_TRACING`); off unless asked."""
    langsmith_api_key: SecretStr | None = Field(default=None, validation_alias="LANGSMITH_API_KEY")
    """Key for LangSmith."""
    langsmith_endpoint: str | None = Field(default=None, validation_alias="LANGSMITH_ENDPOINT")
    """Where traces go; LangSmith's own address when not given."""
    langsmith_project: str = Field(default="kernel-scientist", validation_alias="LANGSMITH_PROJECT")
    """Project the traces are filed under."""
    telemetry: bool = False
    """Send OpenTelemetry spans of runs; off unless asked."""
    otlp_endpoint: str | None = Field(default=None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    """Where spans go, by OTLP over HTTP; the collector of this machine when not given."""
    otlp_headers: SecretStr | None = Field(default=None, validation_alias="OTEL_EXPORTER_OTLP_HEADERS")
    """Headers for the collector, such as a key: `name=value,name=value`."""
    trace_sources: Literal["full", "digest", "off"] = "full"
    """Kernels, prompts and replies in traces: as they are, as size and SHA-256, or as size alone."""

    _around: tuple[str, ...] = PrivateAttr(default=())  # secrets beside these settings

    if not TYPE_CHECKING:  # type checkers take the fields

        def __init__(self, **values: Any) -> None:
            """Read what is not given; SettingsError, which shows no value, for what is no setting or not usable."""
            names = _names(type(self))
            unknown = [name for name in values if name not in names and not name.startswith("_")]
            if unknown:
                near = get_close_matches(unknown[0], list(names), 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise SettingsError(f"there is no setting {unknown[0]!r}{hint}")
            try:
                super().__init__(**values)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                why = first["msg"].removeprefix("Value error, ")
                raise SettingsError(f"the setting {_name(first['loc'])} is not usable: {why}") from None
            except (UnicodeDecodeError, OSError) as error:
                raise SettingsError(f"the file .env in this folder is no UTF-8 text ({type(error).__name__})") from None

    @field_validator("runs_folder", "cache_folder", "knowledge_folder")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value is not None else None

    @field_validator("database")
    @classmethod
    def _database(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("it is the address of a Postgres database, postgresql://USER@HOST:PORT/DATABASE")
        return value

    @field_validator("base_url", "embedding_base_url", "langsmith_endpoint", "otlp_endpoint")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("it must start with http:// or https://")
        return value.rstrip("/") if value else value

    @model_validator(mode="after")
    def _place_knowledge(self) -> Self:
        if self.knowledge_folder is None:
            object.__setattr__(self, "knowledge_folder", self.cache_folder / "knowledge")
        self._around = around()
        return self

    @property
    def has_model(self) -> bool:
        """True where a model's endpoint is configured: a key, or the address of one that may need none."""
        return self.api_key is not None or self.base_url is not None

    @property
    def knowledge(self) -> Path:
        """Folder of the knowledge store."""
        return self.knowledge_folder or self.cache_folder / "knowledge"

    def models(self) -> Mapping[str, str]:
        """Map each role to its model."""
        return {role: getattr(self, f"model_{role}") or self.model for role in ROLES}

    def secrets(self) -> tuple[str, ...]:
        """Texts that must never be printed or stored."""
        keys = (self.api_key, self.langsmith_api_key, self.worker_token, self.spool_key)
        texts = [key.get_secret_value() for key in keys if key is not None]
        signed = [part for value in self.header_values().values() for part in (value, value.rpartition(" ")[2])]
        return tuple(dict.fromkeys((*texts, *signed, *self._address_secrets(), *self._around)))

    def _address_secrets(self) -> tuple[str, ...]:
        """Addresses with a password, and the password in all its forms."""
        database = self.database.get_secret_value() if self.database is not None else None
        urls = (self.base_url, self.embedding_base_url, self.langsmith_endpoint, self.otlp_endpoint, database)
        return tuple(dict.fromkeys(secret for url in urls if url for secret in secrets_of(url)))

    def header_values(self) -> Mapping[str, str]:
        """Read the headers for the collector, by their names."""
        text = self.otlp_headers.get_secret_value() if self.otlp_headers is not None else ""
        pairs = (part.partition("=") for part in text.split(",") if "=" in part)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}


def load_settings(**overrides: object) -> Settings:
    """Read the settings; SettingsError names the first bad one and never shows a value."""
    return Settings(**overrides)  # type: ignore[arg-type]


def _names(kind: type[BaseSettings]) -> tuple[str, ...]:
    """Name the fields, and the variables that stand for some of them."""
    aliases = [field.validation_alias for field in kind.model_fields.values()]
    choices = [alias.choices if isinstance(alias, AliasChoices) else [alias] for alias in aliases if alias is not None]
    return (*kind.model_fields, *(str(name) for names in choices for name in names))


def _name(location: tuple[int | str, ...]) -> str:
    """Return the environment variable of this field."""
    name = str(location[0]) if location else "?"
    return name if name.isupper() else PREFIX + name.upper()


def with_isolation(settings: Settings, isolation: str | None) -> Settings:
    """Return the settings with what `--isolation` says; UsageError for another word."""
    if isolation not in (None, "strict", "limits"):
        raise UsageError(f"--isolation is strict or limits, not {isolation!r}")
    return settings if isolation is None else settings.model_copy(update={"isolation": isolation})
