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


def test_what_a_document_is_asked_for_finds_it_also_after_a_rebuild(store: KnowledgeStore, tmp_path: Path) -> None:
    for name, asks in (("a", "stripes of a zebra"), ("b", "spots")):
        (tmp_path / f"{name}.md").write_text(f"---\ntitle: {name}\nasks:\n- {asks}\n---\nThe same text.\n")
    store.add([tmp_path / "a.md", tmp_path / "b.md"])
    for _ in range(2):
        assert [hit.title for hit in store.search("zebras")] == ["a"]
        assert "zebra" not in store.search("zebras")[0].text
        store.rebuild()


def test_a_question_that_a_document_says_it_answers_comes_before_its_words_in_others(
    store: KnowledgeStore, tmp_path: Path
) -> None:
    store.add_text("a", "---\ntags: why, are, reads, slow, twice, late\n---\nThe same text.")
    store.add_text("b", "---\nasks:\n- why are reads slow\n- twice late\n---\nThe same text.")
    assert [hit.title for hit in store.search("why are reads slow?")] == ["b", "a"]
    store.rebuild()
    assert [hit.title for hit in store.search("why are reads slow?")] == ["b", "a"]
