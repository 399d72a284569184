"""Processor time of adding and searching many passages (10,000; `--passages 100000`), beside other searches.

The passages are drawn from the sentences of the shipped notes, so words are as frequent as they are there. Half are for
another GPU, and each question is for one. Rivals search the same passages without that filter, a question after ours;
every fourth of the judged questions is asked, for the slowest rival needs a fifth of a second for one. With
`--vectors N` a stand-in for an embedding model adds vectors, and Chroma alone, which filters, is a rival.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings
from numpy.typing import NDArray

from benchmarks.figure import Figure, report
from benchmarks.retrieval_quality import QUESTIONS
from benchmarks.search_rivals import Search, rivals
from documents.splitter import LOW
from knowledge.store import DENSE, NOTES, KnowledgeStore

A_PAGE = 10  # passages
EACH = 4  # of so many questions one is asked
Asked = Callable[[str, int], Sequence[object]]  # passages in any form


def pages(passages: int) -> list[tuple[str, list[str]]]:
    """Make the front matter and the passages of each page; the same at every call."""
    lines = [line for note in sorted(NOTES.glob("*.md")) for line in note.read_text(encoding="utf-8").split("\n")]
    lines = [line for line in lines if len(line) > 30 and line[0].isalpha()]
    draw = random.Random(1)
    front_and_texts = []
    for number in range(passages // A_PAGE):
        texts = []
        for _ in range(A_PAGE):
            text = draw.choice(lines)
            while len(text) < LOW + 100:
                text += "\n\n" + draw.choice(lines)
            texts.append(text)
        front_and_texts.append(
            (f"---\ntitle: Page {number}\narch: {'sm_90' if number % 2 else 'gfx942'}\n---\n", texts)
        )
    return front_and_texts


def write(folder: Path, texts_of_pages: Sequence[tuple[str, list[str]]]) -> int:
    """Write the pages as files, and return their size in bytes."""
    folder.mkdir()
    for number, (head, texts) in enumerate(texts_of_pages):
        body = "\n\n".join(f"## Part {n}\n\n{text}" for n, text in enumerate(texts))
        (folder / f"{number}.md").write_text(f"{head}\n{body}\n", encoding="utf-8")
    return sum(file.stat().st_size for file in folder.iterdir())


class WordVectors:
    """A stand-in for a model that costs next to nothing: the sum of a random vector for each of a text's words."""

    def __init__(self, numbers: int) -> None:
        """Make vectors of so many numbers."""
        self.id = f"word vectors of {numbers}"
        self._rows = np.random.default_rng(1).standard_normal((4096, numbers), np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed so that texts that share words get vectors that are near."""
        words = [[zlib.crc32(word.encode()) % 4096 for word in text.split()] or [0] for text in texts]
        return np.stack([self._rows[indices].sum(axis=0) for indices in words])


def chroma_where(folder: Path, texts_of_pages: Sequence[tuple[str, list[str]]], embedder: WordVectors) -> Search:
    """Build a search of Chroma alone over the same passages, with its own filter by GPU."""
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("pages", embedding_function=None)
    rows = [
        (text, {"arch": "sm_90" if n % 2 else "gfx942"})
        for n, (_, texts) in enumerate(texts_of_pages)
        for text in texts
    ]
    for start in range(0, len(rows), 2000):
        texts, about = zip(*rows[start : start + 2000], strict=True)
        ids = [str(number) for number in range(start, start + len(texts))]
        collection.add(ids=ids, embeddings=embedder.embed(texts), metadatas=list(about))

    def search(question: str, k: int) -> list[int]:
        answer = collection.query(query_embeddings=embedder.embed([question]), n_results=k, where={"arch": "gfx942"})
        return [int(name) for name in answer["ids"][0]]

    return search


def spent(start: float) -> float:
    """Return the processor seconds of this process since then."""
    return time.process_time() - start


def p95_ms(seconds: Sequence[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return sorted(seconds)[int(0.95 * len(seconds))] * 1e3


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--vectors", type=int, default=0, metavar="N", help="also search by vectors of N numbers")
    options = parser.parse_args()
    passages, numbers = options.passages, options.vectors
    questions = [json.loads(line)["question"] for line in QUESTIONS.read_text(encoding="utf-8").splitlines()][::EACH]
    texts_of_pages = pages(passages)
    with tempfile.TemporaryDirectory() as folder:
        size = write(Path(folder, "pages"), texts_of_pages)
        store = KnowledgeStore(Path(folder, "store"), embedder=WordVectors(numbers) if numbers else None)
        start = time.process_time()
        stored = sum(added.chunks for added in store.add([Path(folder, "pages")]))
        first_s = spent(start)
        start = time.process_time()
        store.add([Path(folder, "pages")])
        again_s = spent(start)
        disk = sum(file.stat().st_size for file in Path(folder, "store").iterdir() if file.is_file())
        rival_searches: list[tuple[str, Asked]] = [*rivals([text for _, texts in texts_of_pages for text in texts])]
        if numbers:
            store.embed()
            rival_searches += [("hybrid", lambda question, k: store.search(question, k, "gfx942"))]
            rival_searches += [
                ("chroma where", chroma_where(Path(folder, "chroma"), texts_of_pages, WordVectors(numbers)))
            ]
        for _, search in rival_searches:
            search(questions[0], 10)
        times = searched(store, rival_searches, questions)
        changes = after_change(store, [0.0] + [DENSE] * bool(numbers))
        store.close()
    return report(
        f"Retrieval, {stored} passages",
        [
            Figure("retrieval_speed.add", stored / first_s, "passages/CPU-s", "goal", 5000, "> 5000"),
            Figure("retrieval_speed.add_again", again_s / first_s, "", "adding first", 1.0, "< 0.05"),
            Figure("retrieval_speed.disk", disk / size, "", "the text", 1.0, "<= 3"),
            *(
                Figure(f"retrieval_speed.after_change{kind}", change_s * 1e3, "ms CPU", "goal", 100, "<= 100")
                for kind, change_s in zip(("", ".hybrid"), changes, strict=False)
            ),
            *(
                Figure(
                    f"retrieval_speed.{name}.p95", p95_ms(times_s), "ms CPU", "by words", p95_ms(times["words"]), goal
                )
                for name, times_s in times.items()
                for goal in ["<= 10" if name in ("words", "hybrid") else ""]
            ),
        ],
    )


def after_change(store: KnowledgeStore, weights: Sequence[float]) -> list[float]:
    """Measure the processor seconds of the first search after a document came in, at each weight of vectors."""
    seconds = []
    for weight in weights:
        store.weight = weight
        store.add_text(f"new {weight}", f"A zebra {weight}.")
        start = time.process_time()
        store.search("zebra")
        seconds.append(spent(start))
    return seconds


def searched(
    store: KnowledgeStore, rival_searches: Sequence[tuple[str, Asked]], questions: Sequence[str]
) -> dict[str, list[float]]:
    """Measure the processor seconds of each question, ours and every rival's in turn."""
    times: dict[str, list[float]] = {"words": [], **{name.lower().replace(" ", "_"): [] for name, _ in rival_searches}}
    for question in questions:
        store.weight = 0.0
        start = time.process_time()
        store.search(question, 5, "gfx942")
        times["words"].append(spent(start))
        for name, search in rival_searches:
            start = time.process_time()
            store.weight = DENSE
            search(question, 10)
            times[name.lower().replace(" ", "_")].append(spent(start))
    return times


if __name__ == "__main__":
    sys.exit(main())
