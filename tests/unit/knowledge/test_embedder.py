"""A sentence model in a folder: a tiny real one, whose token vectors are the rows of a table."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from app.configured_store import make_store
from app.settings import load_settings
from knowledge.embedder import EmbedderError, FolderEmbedder
from knowledge.store import KnowledgeStore

WORDS = ["[UNK]", "[PAD]", "zebra", "stripes", "bank", "conflicts"]
TABLE = np.eye(len(WORDS), dtype=np.float32)


def field(number: int, value: bytes | int | str) -> bytes:
    """One field of a protocol buffer."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    size = len(data)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + data


def tensor_of(name: str, kind: int, *dims: str) -> bytes:
    shape = b"".join(field(1, field(2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def export(folder: Path) -> Path:
    """An ONNX model that looks token ids up in the table, and its tokeniser."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    row = field(1, len(WORDS)) + field(1, len(WORDS)) + field(2, 1) + field(8, "table")
    table = row + field(9, struct.pack(f"<{TABLE.size}f", *TABLE.ravel()))
    node = field(1, "table") + field(1, "input_ids") + field(2, "out") + field(4, "Gather")
    inputs = field(11, tensor_of("input_ids", 7, "b", "s")) + field(11, tensor_of("attention_mask", 7, "b", "s"))
    graph = field(1, node) + field(2, "g") + field(5, table) + inputs + field(12, tensor_of("out", 1, "b", "s", "d"))
    (folder / "model.onnx").write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
    words = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    return folder


def test_a_text_has_the_mean_of_its_tokens_whatever_stands_beside_it(tmp_path: Path) -> None:
    embedder = FolderEmbedder(export(tmp_path / "tiny"))
    alone = embedder.embed(["zebra stripes"])
    beside = embedder.embed(["zebra stripes", "bank conflicts bank conflicts"])
    assert np.allclose(alone[0], (TABLE[2] + TABLE[3]) / 2)
    assert np.allclose(alone[0], beside[0])
    assert embedder.id.startswith("tiny ")


def test_texts_of_any_lengths_keep_their_places_and_are_cut_where_the_model_ends(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    folder = export(tmp_path / "tiny")
    texts = [" ".join(["zebra"] * (7 * n % 20 + 1) + ["stripes"] * (n % 3)) for n in range(20)]
    alone = np.concatenate([FolderEmbedder(folder).embed([text]) for text in texts])
    assert np.allclose(FolderEmbedder(folder).embed(texts), alone)
    before = FolderEmbedder(folder).id
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.enable_truncation(2)
    words.save(str(folder / "tokenizer.json"))
    short = FolderEmbedder(folder)
    assert np.allclose(short.embed(["zebra zebra stripes stripes"]), [TABLE[2]])
    assert short.id != before, "other vectors"


@pytest.mark.slow
def test_a_store_finds_by_the_folders_vectors(tmp_path: Path) -> None:
    folder = export(tmp_path / "tiny")
    store = make_store(load_settings(knowledge_folder=tmp_path / "store", embedding_model=str(folder)))
    store.add_text("animals", "zebra stripes")
    store.add_text("memory", "bank conflicts")
    assert store.embed() == 2
    assert [hit.title for hit in store.search("stripes", 1)] == ["animals"]
    store.close()
    other = KnowledgeStore(tmp_path / "store", embedder=FolderEmbedder(folder))
    assert other.embed() == 0, "the vectors are kept under the model's content"
    other.close()


def test_a_folder_without_a_model_or_with_another_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(EmbedderError, match=r"has no model\.onnx"):
        FolderEmbedder(tmp_path / "none")
    folder = export(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match="is no ONNX model"):
        FolderEmbedder(folder).embed(["a"])


def test_chromas_own_model_is_used_where_it_is_and_asked_for_where_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    with pytest.raises(EmbedderError, match=r"Chroma's embedding model cannot be fetched \(\w+: .*\); name a folder"):
        make_store(load_settings(knowledge_folder=tmp_path / "store", embedding_model="chroma"))
    place = tmp_path / ".cache/chroma/onnx_models/all-MiniLM-L6-v2"
    place.mkdir(parents=True, exist_ok=True)
    export(place / "onnx")
    store = make_store(load_settings(knowledge_folder=tmp_path / "store", embedding_model="chroma"))
    store.add_text("animals", "zebra stripes")
    assert store.embed() == 1
    store.close()
