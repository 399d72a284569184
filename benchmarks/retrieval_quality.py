"""The place of the right note among the documents found, for judged questions, beside other searches.

Each question has one note that answers it. `--pages FOLDER` adds documents that answer none, as distraction: a checkout
of ROCm's or HIP's documentation. A search's documents are those of its best passages, each once. An embedding model in
the settings adds a row; the bounds are of a bootstrap over the questions.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from app.settings import load_settings
from app.shelf import make_store
from benchmarks.figure import Figure, report
from benchmarks.search_rivals import rivals
from knowledge.chunks import cut
from knowledge.reader import DocumentReader
from knowledge.store import NOTES, KnowledgeStore
from records.errors import DocumentError

QUESTIONS = Path(__file__).resolve().parent.parent / "tests/data/retrieval_questions.jsonl"
PASSAGES, DOCUMENTS = 60, 10
DRAWS = 2000

Ranking = Callable[[dict[str, str]], list[str]]  # a question to the names of documents, the best first


def gains(ranking: Ranking, questions: Sequence[dict[str, str]]) -> list[float]:
    """For each question the gain at ten: 1 where the right document is first, 0 where it is not among ten."""
    found = []
    for asked in questions:
        names = list(dict.fromkeys(ranking(asked)))[:DOCUMENTS]
        found.append(1 / math.log2(names.index(asked["expected"]) + 2) if asked["expected"] in names else 0.0)
    return found


def own(store: KnowledgeStore) -> Ranking:
    """The store's search as a run asks it; documents by name."""
    name = {d.id: d.uri.removeprefix("shipped:").removesuffix(".md") for d in store.documents()}
    return lambda asked: [
        name[hit.document] for hit in store.search(asked["question"], PASSAGES, asked.get("arch", "gfx942"))
    ]


def others(store: KnowledgeStore) -> list[tuple[str, Ranking]]:
    """The rivals over the same passages; those for other GPUs are left out of their answers, as ours does."""
    texts, owners = [], []
    with DocumentReader() as reader:
        for document in store.documents():
            is_shipped = document.uri.startswith("shipped:")
            path = NOTES / document.uri.removeprefix("shipped:") if is_shipped else Path(document.uri)
            try:
                body = reader.read(path).body
            except DocumentError:
                continue
            for chunk in cut(document.title, body):
                if chunk.is_evidence:
                    texts.append(f"{document.title}\n{chunk.section}\n{chunk.text}")
                    owners.append((path.stem if is_shipped else document.uri, document.arch.split()))

    def ranked(search: Callable[[str, int], list[int]]) -> Ranking:
        def ranking(asked: dict[str, str]) -> list[str]:
            arch = asked.get("arch", "gfx942")
            places = search(asked["question"], 4 * PASSAGES)
            return [owners[p][0] for p in places if not owners[p][1] or arch in owners[p][1]][:PASSAGES]

        return ranking

    return [(name, ranked(search)) for name, search in rivals(texts)]


def main() -> int:
    """Print the figures of every search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, action="append", default=[], help="documents that answer no question")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    settings = load_settings()
    with tempfile.TemporaryDirectory() as folder:
        store = KnowledgeStore(Path(folder))
        store.ensure_shipped()
        if arguments.pages:
            store.add(arguments.pages)
        rows = [("words", own(store)), *others(store)]
        if settings.embedding_model:
            dense = make_store(settings.model_copy(update={"knowledge_folder": Path(folder)}))
            dense.embed()
            rows.append((settings.embedding_model, own(dense)))
        return report(f"Retrieval, {len(questions)} questions", figures(rows, questions))


def figures(rows: Sequence[tuple[str, Ranking]], questions: Sequence[dict[str, str]]) -> list[Figure]:
    """Mean gain and recall of each search; of the words' ratio to each rival the lower bound of 95 %."""
    found = {name: np.array(gains(ranking, questions)) for name, ranking in rows}
    best = found["words"]
    draws = np.random.default_rng(0).integers(0, len(best), (DRAWS, len(best)))
    made = []
    for name, gain in found.items():
        key = f"retrieval_quality.{name.lower().replace(' ', '_')}"
        made.append(Figure(f"{key}.ndcg10", float(gain.mean()), "", "by words", float(best.mean())))
        made.append(Figure(f"{key}.recall10", float((gain > 0).mean()), "", "by words", float((best > 0).mean())))
        if name != "words":
            ratios = best[draws].mean(axis=1) / np.maximum(gain[draws].mean(axis=1), 1e-9)
            low = float(np.quantile(ratios, 0.025))
            made.append(Figure(f"{key}.words_over_it", low, "", "the mean ratio", float(best.mean() / gain.mean())))
    return made


if __name__ == "__main__":
    sys.exit(main())
