from __future__ import annotations

import json
from pathlib import Path

from knowledge.store import KnowledgeStore

QUESTIONS = Path(__file__).parents[2] / "data" / "retrieval_questions.jsonl"


def places(store: KnowledgeStore) -> dict[str, int]:
    """Place of the expected note among five passages, 9 if it is missing, by question."""
    name = {document.id: document.uri.removeprefix("shipped:").removesuffix(".md") for document in store.documents()}
    found = {}
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        names = [name[hit.document] for hit in store.search(asked["question"], k=5, arch=asked.get("arch", "gfx942"))]
        found[asked["question"]] = names.index(asked["expected"]) if asked["expected"] in names else 9
    return found


def test_the_right_note_is_among_five_passages(shipped: KnowledgeStore) -> None:
    found = places(shipped)
    missed = [question for question, place in found.items() if place == 9]
    assert len(found) >= 90
    assert 1.0 - len(missed) / len(found) >= 0.9, missed
    assert sum(place == 0 for place in found.values()) / len(found) >= 0.7
