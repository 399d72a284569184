from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from knowledge.dense import DenseDamaged, DenseIndex, Seal, seal_text

COUNT = 1200  # above the size at which Chroma writes its index files
ROWS = np.random.default_rng(7).normal(size=(COUNT, 16)).astype(np.float32)
VECTORS = {number: row.tobytes() for number, row in enumerate(ROWS, start=1)}


@pytest.fixture
def dense(tmp_path: Path) -> Iterator[DenseIndex]:
    made = DenseIndex(tmp_path / "chroma", "knowledge-test-16-c1")
    yield made
    made.close()


def test_nearest_by_cosine(dense: DenseIndex) -> None:
    seal = dense.build(VECTORS)
    assert (seal.count, Seal.parse(seal_text(seal))) == (1200, seal)
    assert dense.nearest(seal, ROWS[41] * 3.0, 1) == [42]
    assert dense.problems(seal, set(VECTORS)) == []
    assert "lacks 1 passages and has 0 too many" in dense.problems(seal, {*VECTORS, 5000})[0]


def test_an_update_leaves_the_old_collection_alone(dense: DenseIndex) -> None:
    old = dense.build(VECTORS)
    new = dense.update(old, {2000: (-ROWS[0]).tobytes()}, [1])
    assert dense.nearest(new, -ROWS[0], 1) == [2000]
    assert 1 not in dense.nearest(new, ROWS[0], 1200)
    assert dense.nearest(old, ROWS[0], 1) == [1]
    dense.sweep((new,))
    with pytest.raises(DenseDamaged):
        dense.update(old, {}, [])


FILES = ["data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"]


@pytest.mark.parametrize("name", FILES)
def test_damaged_index_files_are_seen_before_chroma_opens_them(dense: DenseIndex, name: str) -> None:
    seal = dense.build(VECTORS)
    (path,) = (dense.folder / seal.folder).glob(f"*/{name}")
    path.write_bytes(bytes(reversed(path.read_bytes())) + b"\1")
    with pytest.raises(DenseDamaged, match="not those that were written"):
        dense.nearest(seal, ROWS[0], 1)


def test_a_seal_that_cannot_be_read_is_none() -> None:
    assert [Seal.parse(text) for text in ("", "{", "[]", '{"folder": "x"}')] == [None] * 4
