from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.store import KnowledgeStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    made = KnowledgeStore(tmp_path / "store", wait_s=0.0)
    yield made
    made.close()


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeStore]:
    made = KnowledgeStore(tmp_path_factory.mktemp("shipped"), wait_s=0.0)
    made.ensure_shipped()
    yield made
    made.close()
