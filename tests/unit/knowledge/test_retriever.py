from pathlib import Path

from langchain_core.retrievers import BaseRetriever

from knowledge.store import KnowledgeStore


def test_the_notes_are_a_retriever_for_langchain(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path)
    found = store.as_retriever(k=3, arch="gfx942")
    assert isinstance(found, BaseRetriever)
    passages = found.invoke("bank conflicts in LDS")
    direct = store.search("bank conflicts in LDS", 3, "gfx942")
    assert [p.page_content for p in passages] == [hit.text for hit in direct] and len(passages) == 3
    assert passages[0].metadata["source"] == direct[0].source and passages[0].metadata["title"]
