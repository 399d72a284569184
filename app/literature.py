"""The knowledge store as the graph sees it; what a run was given to read is written into its diary."""

from __future__ import annotations

from pathlib import Path

from records.ledger import Ledger


class ShelvedLiterature:
    """Passages ready for a prompt. Chroma is imported by the first search, not before."""

    def __init__(self, folder: Path, ledger: Ledger, run_id: str) -> None:
        """Nothing is opened yet."""
        from knowledge.store import KnowledgeStore

        self._store = KnowledgeStore(folder)
        self._ledger = ledger
        self._run_id = run_id

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[str, ...]:
        """The best k passages, each under its title, section and source."""
        self._store.ensure_shipped()
        passages = []
        for hit in self._store.search(query, k, arch):
            self._ledger.event(
                self._run_id,
                "literature",
                {"title": hit.title, "section": hit.section, "source": hit.source},
                key=f"literature:{hit.document}:{hit.section}",
            )
            passages.append(f"## {hit.title}: {hit.section}\nSource: {hit.source}\n\n{hit.text}")
        return tuple(passages)

    def close(self) -> None:
        """Let go of the store's files."""
        self._store.close()
