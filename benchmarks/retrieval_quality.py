"""The places of the documents that answer judged questions, beside other searches over the same passages.

Half of the questions are identifiers, a quarter paraphrases, a quarter symptoms and error messages. Each has the
documents that answer it, judged by reading (docs/adding-documents.md says how). Half, the unseen ones, were not used
for the ranking, but for one weight; of these the blind ones were not known to who wrote the notes' `asks` either. Pages
that `benchmarks.retrieval_pages` writes are asked about too; without them, questions that only pages answer are left
out. A search's documents are those of its best passages, each once. An embedding model in the settings adds a row, at
the weight that is best on the questions that are not unseen; the bounds are of a bootstrap over the questions.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.configured_store import make_store
from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.retrieval_pages import FOLDER
from benchmarks.search_rivals import rivals
from documents.reader import DocumentReader
from knowledge.chunks import cut
from knowledge.store import NOTES, KnowledgeStore
from records.errors import DocumentError

QUESTIONS = Path(__file__).resolve().parent.parent / "tests/data/retrieval_judged.jsonl"
PASSAGES, DOCUMENTS = 60, 10
DRAWS = 2000
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8)  # of vectors beside words

Question = Mapping[str, Any]
Ranking = Callable[[Question], list[str]]  # a question to the names of documents, the best first


def gains(ranking: Ranking, questions: Sequence[Question]) -> list[float]:
    """Give each question's normalised discounted gain at ten: 1 where the right documents come first, 0 where none."""
    values = []
    for question in questions:
        names, right = list(dict.fromkeys(ranking(question)))[:DOCUMENTS], question["expected"]
        gain = sum(1 / math.log2(rank + 2) for rank, name in enumerate(names) if name in right)
        values.append(gain / sum(1 / math.log2(rank + 2) for rank in range(min(len(right), DOCUMENTS))))
    return values


def read_questions(pages: Sequence[Path]) -> list[Question]:
    """Read the judged questions with those of their documents that are here."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["expected"] = [e for e in row["expected"] if "/" not in e or any((page / e).exists() for page in pages)]
    return [row for row in rows if row["expected"]]


def name_of(uri: str, pages: Sequence[Path]) -> str:
    """Return the name by which judged questions know a document."""
    if uri.startswith("shipped:"):
        return uri.removeprefix("shipped:").removesuffix(".md")
    inside = [page.resolve() for page in pages if Path(uri).is_relative_to(page.resolve())]
    return Path(uri).relative_to(inside[0]).as_posix() if inside else uri


def own_ranking(store: KnowledgeStore, pages: Sequence[Path]) -> Ranking:
    """Rank by the store's search as a run asks it; documents by name."""
    name = {d.id: name_of(d.uri, pages) for d in store.documents()}
    return lambda question: [
        name[hit.document] for hit in store.search(question["question"], PASSAGES, question.get("arch", "gfx942"))
    ]


def rival_rankings(store: KnowledgeStore, pages: Sequence[Path]) -> list[tuple[str, Ranking]]:
    """List the rivals on the same passages and tags; those for other GPUs are left out of answers, as ours does."""
    texts, owners = [], []
    with DocumentReader() as reader:
        for document in store.documents():
            is_shipped = document.uri.startswith("shipped:")
            path = NOTES / document.uri.removeprefix("shipped:") if is_shipped else Path(document.uri)
            try:
                body = reader.read(path).body
            except DocumentError:
                continue
            for chunk in cut(document.title, body, document.tags):
                if chunk.terms:
                    texts.append(f"{document.title}\n{' '.join(document.tags)}\n{chunk.section}\n{chunk.text}")
                    owners.append((name_of(document.uri, pages), document.arch.split()))

    def ranked(search: Callable[[str, int], list[int]]) -> Ranking:
        def ranking(question: Question) -> list[str]:
            arch = question.get("arch", "gfx942")
            passages = search(question["question"], 4 * PASSAGES)
            return [owners[p][0] for p in passages if not owners[p][1] or arch in owners[p][1]][:PASSAGES]

        return ranking

    return [(name, ranked(search)) for name, search in rivals(texts)]


def main() -> int:
    """Print the figures of every search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, action="append", help="pages that some questions are about")
    parser.add_argument("--store", type=Path, help="a store to keep, so that vectors are made once; else one for now")
    options = parser.parse_args()
    pages = options.pages or [FOLDER] * FOLDER.is_dir()
    questions = read_questions(pages)
    settings = load_settings()
    tuned, name = list[Figure](), ""
    with tempfile.TemporaryDirectory() as for_now:
        folder = options.store or Path(for_now)
        store = KnowledgeStore(folder)
        store.ensure_shipped()
        if pages:
            store.add(pages)
        rows = [("words", own_ranking(store, pages)), *rival_rankings(store, pages)]
        if settings.embedding_model:
            dense = make_store(settings.model_copy(update={"knowledge_folder": folder}))
            dense.embed()
            name = Path(settings.embedding_model).name
            tuned = tune(dense, pages, questions, f"retrieval_quality.{name.lower()}")
            rows.append((name, own_ranking(dense, pages)))
        return report(f"Retrieval, {len(questions)} questions", [*tuned, *figures(rows, questions, name)])


def tune(store: KnowledgeStore, pages: Sequence[Path], questions: Sequence[Question], key: str) -> list[Figure]:
    """Set the weight of vectors to the best of several on the questions that ranking knows; the gain at each."""
    known_questions = [question for question in questions if not question.get("unseen")]
    gain_by_weight = {}
    for weight in WEIGHTS:
        store.weight = weight
        gain_by_weight[weight] = sum(gains(own_ranking(store, pages), known_questions)) / len(known_questions)
    store.weight = max(gain_by_weight, key=gain_by_weight.__getitem__)
    rows_of_weights = [
        Figure(f"{key}.known.ndcg10_at_{w:g}", value, "", "words alone", gain_by_weight[0.0])
        for w, value in gain_by_weight.items()
    ]
    return [Figure(f"{key}.weight", store.weight, "", "words", 1.0), *rows_of_weights]


def figures(rows: Sequence[tuple[str, Ranking]], questions: Sequence[Question], embedder: str = "") -> list[Figure]:
    """Give mean gain and recall of each search over all questions, the unseen and blind ones, and the words' by kind.

    Of the words' ratio to each rival the mean and the lower bound of 95 %; the row of an embedder of ours has no goal.
    """
    gain_by_search = {name: np.array(gains(ranking, questions)) for name, ranking in rows}
    figure_rows = []
    for part in ("", "unseen", "blind"):
        chosen = np.array([not part or bool(question.get(part)) for question in questions])
        if chosen.any():
            figure_rows += _compared(
                part and f"{part}.", {name: gain[chosen] for name, gain in gain_by_search.items()}, embedder
            )
    for kind in sorted({str(question.get("kind", "")) for question in questions}):
        own_gains = gain_by_search["words"][[question.get("kind", "") == kind for question in questions]]
        key = f"retrieval_quality.words.{kind or 'any'}.ndcg10"
        figure_rows.append(Figure(key, float(own_gains.mean()), "", "all kinds", float(gain_by_search["words"].mean())))
    return figure_rows


def _compared(part: str, gain_by_search: Mapping[str, Any], embedder: str) -> list[Figure]:
    best = gain_by_search["words"]
    least, over = (
        (">= 0.95", ">= 1.1") if part else ("", "")
    )  # what is reached on questions that ranking knows says less
    draws = np.random.default_rng(0).integers(0, len(best), (DRAWS, len(best)))
    rows = []
    for name, gain in gain_by_search.items():
        key = f"retrieval_quality.{part}{name.lower().replace(' ', '_')}"
        rows.append(Figure(f"{key}.ndcg10", float(gain.mean()), "", "by words", float(best.mean())))
        goal = least if name == "words" else ""
        rows.append(Figure(f"{key}.recall10", float((gain > 0).mean()), "", "by words", float((best > 0).mean()), goal))
        if name != "words":
            ratios = best[draws].mean(axis=1) / np.maximum(gain[draws].mean(axis=1), 1e-9)
            low, mean = float(np.quantile(ratios, 0.025)), float(best.mean() / gain.mean())
            rows.append(
                Figure(
                    f"{key}.words_over_it", mean, "", "its lower bound of 95 %", low, over if name != embedder else ""
                )
            )
    return rows


if __name__ == "__main__":
    sys.exit(main())
