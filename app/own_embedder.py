"""Vectors that the knowledge command buys: of the embedder that is named, or of one that the model's endpoint offers.

The latter is found once and remembered beside the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.screen import note
from app.settings import OPENAI, load_settings
from records.address import shown_address
from records.errors import ModelError
from records.quantity import counted

if TYPE_CHECKING:
    from app.settings import Settings
    from knowledge.embedder import EndpointEmbedder
    from knowledge.store import KnowledgeStore

TRIED = 3  # of the models that are named like one
UNASKED = 5000  # passages that are bought at once of an embedder that nobody named: some 2 million tokens
LIST_S = 20.0  # for the list of models
_NAMED = re.compile(r"embed|minilm|(?:^|[/_-])(?:bge|e5|gte)(?=[_-])")
_NOT = re.compile(r"rerank|ocr|clip|vision")
_FILE = "embedder.json"  # in the store's folder


def is_left_open(settings: Settings) -> bool:
    """Tell whether an endpoint is named and no embedding model, nor `off`."""
    return not settings.embedding_model and (settings.has_model or bool(settings.embedding_base_url))


def address(settings: Settings) -> str:
    """Return the endpoint that is asked for vectors."""
    return settings.embedding_base_url or settings.base_url or OPENAI


def remembered(settings: Settings) -> str | None:
    """Recall the model that this endpoint was found to offer, empty for none; None where it was not asked yet."""
    try:
        choice = json.loads((settings.knowledge / _FILE).read_text(encoding="utf-8"))
        model = choice["model"] if choice["address"] == shown_address(address(settings)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return model if isinstance(model, str) else None


def buy(store: KnowledgeStore, is_asked: bool, most: int = UNASKED) -> None:
    """Buy what is missing and say what it cost. `is_asked`: by the person, be it more than `most` passages."""
    from knowledge.embedder import EmbedderError, EndpointEmbedder

    settings = load_settings()
    buyer = store if store.embedder else _open_with_own_embedder(settings, is_asked)
    if buyer is None:
        return
    if not (is_asked or settings.embedding_model) and buyer.missing() > most:
        note(f"{counted(buyer.missing(), 'passage')} found by words alone; `knowledge rebuild` buys their vectors")
        return
    try:
        buyer.embed(lambda count: note(f"{counted(count, 'passage')} embedded"))
    except EmbedderError as error:
        note(f"{error}; the documents are in and found by their words, `knowledge rebuild` tries again")
    finally:
        if isinstance(buyer.embedder, EndpointEmbedder) and buyer.embedder.tokens:
            usd = buyer.embedder.tokens * settings.usd_per_million_embedding_tokens / 1e6
            note(f"paid      {buyer.embedder.tokens:,} tokens of {buyer.embedder.model}, ${usd:.4f}")


def _open_with_own_embedder(settings: Settings, is_asked: bool) -> KnowledgeStore | None:
    """Open the store with the embedder that the model's endpoint offers; an endpoint without one is not asked twice."""
    from knowledge.store import KnowledgeStore

    if not is_left_open(settings) or (remembered(settings) == "" and not is_asked):
        return None
    embedder = choose(settings)
    if embedder is None:
        return None
    note(f"vectors   of {embedder.model}, of the model's endpoint; KERNEL_SCIENTIST_EMBEDDING_MODEL=off: words alone")
    return KnowledgeStore(settings.knowledge, embedder=embedder, weight=settings.embedding_weight)


def choose(settings: Settings) -> EndpointEmbedder | None:
    """Ask the endpoint for its models, and one named like an embedder for the vector of a letter; remember what came.

    The embedder that answered, which has counted its tokens; None where there is none, or no endpoint that answers.
    """
    from knowledge.embedder import EmbedderError, EndpointEmbedder

    key = settings.api_key.get_secret_value() if settings.api_key else ""
    try:
        listed = _offered_models(settings)
    except ModelError:
        return None  # the next command asks again
    names = embedding_models(listed)[:TRIED]
    for name in names:
        embedder = EndpointEmbedder(address(settings), name, key, retries=1)
        try:
            embedder.counted(["a"])
        except EmbedderError:
            continue
        _remember(settings, name)
        return embedder
    if not names:
        _remember(settings, "")
    return None


def embedding_models(listed: Iterable[str]) -> list[str]:
    """List the names that say they make vectors of texts, small ones first: those are the cheap ones."""
    names = [name for name in listed if _NAMED.search(name.lower()) and not _NOT.search(name.lower())]
    return sorted(names, key=lambda name: (not re.search("small|mini", name.lower()), name))


def _offered_models(settings: Settings) -> tuple[str, ...]:
    from pydantic import SecretStr

    from agents.model.endpoint import Endpoint
    from agents.model.probe import listed_models
    from agents.model.transport import Transport

    endpoint = Endpoint(address(settings), settings.model, settings.api_key or SecretStr(""), timeout_s=LIST_S)
    return listed_models(Transport(endpoint))


def _remember(settings: Settings, model: str) -> None:
    settings.knowledge.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"address": shown_address(address(settings)), "model": model})
    (settings.knowledge / _FILE).write_text(text, encoding="utf-8")
