from __future__ import annotations

from pathlib import Path

import pytest

from app.configured_store import make_store
from app.machine import found_by, installation
from app.own_embedder import buy, choose, embedding_models, remembered
from app.settings import Settings, load_settings
from knowledge.embedder import EmbedderError, EndpointEmbedder
from tests.support.embedding_endpoint import EmbeddingEndpoint


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNEL_SCIENTIST_KNOWLEDGE_FOLDER", str(tmp_path / "store"))
    return tmp_path / "store"


def settings_of(endpoint: EmbeddingEndpoint, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.address)
    return load_settings()


def test_models_that_make_vectors_are_told_by_their_names() -> None:
    listed = ["gpt-5", "text-embedding-3-large", "text-embedding-3-small", "bge-reranker-v2", "babbage-002", "gte-7b"]
    assert embedding_models(listed) == ["text-embedding-3-small", "gte-7b", "text-embedding-3-large"]
    for name in (
        "nomic-embed-text:latest",
        "BAAI/bge-m3",
        "intfloat/e5-mistral-7b",
        "all-minilm:l6",
        "Qwen3-Embedding-8B",
    ):
        assert embedding_models([name]) == [name]
    for name in ("llama3.1:8b", "gemma-7b", "colpali-vision-embed", "o3-mini", "google/gemini-2.5"):
        assert embedding_models([name]) == []


@pytest.mark.parametrize(
    ("model", "address", "message"),
    [
        ("./mini", "http://127.0.0.1:9/v1", r"there is no folder mini, .*check the path"),
        ("/models/mini", None, "there is no folder /models/mini"),
        ("some-model", None, "no endpoint is set"),
    ],
)
def test_no_texts_are_sent_for_a_folder_that_is_not_there_or_without_an_endpoint(
    model: str, address: str | None, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    monkeypatch.setenv("KERNEL_SCIENTIST_EMBEDDING_MODEL", model)
    if address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(EmbedderError, match=message):
        make_store(load_settings())
    (line,) = [capability for capability in installation(load_settings()) if capability.name == "knowledge store"]
    assert line.state == "missing" and "EMBEDDING_MODEL" in line.remedy


@pytest.mark.long
def test_an_endpoint_that_offers_vectors_is_asked_once_and_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with EmbeddingEndpoint(models=("big-1", "broken-embed-small", "my-embed")) as endpoint:
        settings = settings_of(endpoint, monkeypatch)
        assert make_store(settings).embedder is None and remembered(settings) is None
        store = make_store(settings)
        store.add_text("n", "words")
        buy(store, is_asked=False)
        output = capsys.readouterr()
        assert "of my-embed, of the model's endpoint" in output.err and f"{1 + len('n--words')} tokens" in output.err
        used = make_store(settings)
        assert isinstance(used.embedder, EndpointEmbedder) and used.embedder.model == "my-embed"
        assert (used.missing(), endpoint.listed) == (0, 1)
        used.add_text("m", "more")
        buy(used, is_asked=False)
        assert (used.missing(), endpoint.listed) == (0, 1)
        assert "vectors of my-embed, which the model's endpoint offers" in found_by(settings)
        used.close()
        for other in ({"embedding_model": "off"}, {"base_url": "http://127.0.0.1:9/v1"}, {"base_url": None}):
            assert make_store(settings.model_copy(update=other)).embedder is None


def test_an_endpoint_without_vectors_is_not_asked_again_until_a_person_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingEndpoint(models=("big-1",)) as endpoint:
        settings = settings_of(endpoint, monkeypatch)
        store = make_store(settings)
        store.add_text("n", "words")
        for is_asked, listed in ((False, 1), (False, 1), (True, 2)):
            buy(store, is_asked)
            assert (remembered(settings), endpoint.listed, endpoint.asked) == ("", listed, [])
        endpoint.models = ("broken-embed",)  # it may be starting: nothing is remembered
        buy(store, is_asked=True)
        assert make_store(settings).embedder is None
    assert choose(settings) is None  # nobody answers


@pytest.mark.long
def test_a_great_many_vectors_are_bought_on_demand_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingEndpoint(models=("my-embed",)) as endpoint:
        store = make_store(settings_of(endpoint, monkeypatch))
        store.add_text("n", "words")
        store.add_text("m", "more")
        buy(store, is_asked=False, most=1)
        assert endpoint.asked == [["a"]] and make_store(load_settings()).missing() == 2
        buy(make_store(load_settings()), is_asked=True, most=1)
        assert make_store(load_settings()).missing() == 0
