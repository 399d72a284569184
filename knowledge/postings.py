"""Okapi BM25 over postings that are kept as packed arrays: one row for each term and PART passages, read whole.

SQLite's FTS5 with the same tokens takes 170 ms of CPU for a question over 100,000 passages, since it visits every row
of every term; arrays take about 5. Nothing else is needed of it: tokens, weights and filters are ours.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING

from knowledge.tokens import KIN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2  # how soon repeats of a term stop counting
B = 0.5  # how much a long passage is held back
NOTE = 1.3  # worth of a shipped note, which is written for the questions asked here, over a page from elsewhere
HISTORY = 0.7  # worth of a list of changes, which names everything and explains nothing
NEAR = 0.5  # weight of a concept whose words only go together, beside a word's own
PART_BITS = 12  # a part is 4,096 passages: a new passage rewrites no more than that of each of its terms

SCHEMA = "CREATE TABLE IF NOT EXISTS postings(term TEXT, part INTEGER, packed BLOB NOT NULL, UNIQUE(term, part))"
SHIPPED = "shipped:"  # begins the place of a shipped note
_HISTORIES = re.compile(r"(?i)change_?log|changes\.|release.?notes|/archive/|/highlights/")
_ENTRY = [("passage", "<u4"), ("count", "u1")]
_APPEND = (
    "INSERT INTO postings VALUES(?, ?, ?)"
    " ON CONFLICT(term, part) DO UPDATE SET packed = CAST(packed || excluded.packed AS BLOB)"
)


@dataclass(frozen=True)
class Facts:
    """The data of every passage that a search needs in memory, for one state of the store, by passage number."""

    epoch: str
    lengths: NDArray[np.int64]  # tokens; 0 where there is no such passage
    documents: NDArray[np.int64]
    arches: Mapping[int, frozenset[str]]  # of the documents that are not for every GPU
    worths: Mapping[int, float]  # of the documents whose worth is not 1
    masks: dict[str, NDArray[np.bool_]] = field(default_factory=dict)  # filled as asked for

    def allowed(self, arch: str | None) -> NDArray[np.bool_]:
        """True at passages of documents that name this GPU or none."""
        import numpy as np

        wanted = (arch or "").strip().lower()
        if wanted not in self.masks:
            others = [d for d, names in self.arches.items() if wanted and wanted not in names]
            self.masks[wanted] = (self.lengths > 0) & ~np.isin(self.documents, others)
        return self.masks[wanted]

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """The part of BM25 that a passage's length decides; infinite where there is no such passage."""
        import numpy as np

        mean = self.lengths.sum() / max(1, self.living)
        return np.where(self.lengths > 0, K1 * (1.0 - B + B * self.lengths / (mean or 1.0)), np.inf)

    @cached_property
    def priors(self) -> NDArray[np.float64]:
        """The worth of each passage's document."""
        import numpy as np

        found = np.ones(max(int(self.documents.max(initial=0)), *self.worths, 0) + 1)
        found[list(self.worths)] = list(self.worths.values())
        return np.where(self.documents >= 0, found[self.documents], 1.0)

    @cached_property
    def living(self) -> int:
        """The number of passages that can be found."""
        return int((self.lengths > 0).sum())


def read_facts(db: sqlite3.Connection, epoch: str, old: Facts | None = None) -> Facts:
    """The facts of the stored passages. After `old` only new ones are read, where none has gone since.

    Numbers are never used again and passages never change, so a smaller count means that one has gone.
    """
    import numpy as np

    start = len(old.documents) if old else 0
    rows = db.execute("SELECT number, document, length FROM chunks WHERE number >= ?", (start,))
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 3)
    stored = db.execute("SELECT COUNT(*) FROM chunks").fetchone()[0]
    if old and stored != len(flat) + int((old.documents >= 0).sum()):
        return read_facts(db, epoch)
    size = int(flat[:, 0].max()) + 1 if len(flat) else start
    lengths, documents = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    if old:
        lengths[:start], documents[:start] = old.lengths, old.documents
    lengths[flat[:, 0]], documents[flat[:, 0]] = flat[:, 2], flat[:, 1]
    arches = db.execute("SELECT number, arch FROM documents WHERE arch <> ''")
    places = db.execute("SELECT number, uri FROM documents")
    worths = {number: worth for number, uri in places if (worth := _worth(uri)) != 1.0}
    return Facts(epoch, lengths, documents, {number: frozenset(names.split()) for number, names in arches}, worths)


def _worth(uri: str) -> float:
    return NOTE if uri.startswith(SHIPPED) else HISTORY if _HISTORIES.search(uri) else 1.0


def rank(
    db: sqlite3.Connection, terms: Sequence[str], facts: Facts, allowed: NDArray[np.bool_], k: int
) -> list[tuple[int, float]]:
    """The best k allowed passages that have a term, with scores; ties go to the smaller number."""
    import numpy as np

    living, norms = facts.living, facts.norms
    scores = np.zeros(len(norms))
    for term, weight in Counter(terms).items():
        packed = b"".join(row[0] for row in db.execute("SELECT packed FROM postings WHERE term = ?", (term,)))
        entries = np.frombuffer(packed, _ENTRY)
        entries = entries[entries["passage"] < len(norms)]  # the last ones may be gone
        passages, counts = entries["passage"].astype(np.intp), entries["count"].astype(np.float64)
        norm = norms[passages]
        having = int(np.isfinite(norm).sum())
        idf = math.log(1.0 + (living - having + 0.5) / (having + 0.5)) * (NEAR if term.startswith(KIN) else 1.0)
        scores[passages] += counts * (weight * idf * (K1 + 1.0)) / (counts + norm)
    scores *= facts.priors
    scores[~allowed] = 0.0
    found = np.flatnonzero(scores)
    if len(found) > k:
        least = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= least]
    order = found[np.lexsort((found, -scores[found]))][:k]
    return [(int(number), float(scores[number])) for number in order]


def add(db: sqlite3.Connection, passages: Mapping[int, Sequence[str]]) -> None:
    """Write the terms of new passages by the passages' numbers, which were never used before."""
    import numpy as np

    if not passages:
        return
    number_of = defaultdict[str, int](count().__next__)
    terms = np.fromiter(map(number_of.__getitem__, chain.from_iterable(passages.values())), np.int64)
    owners = np.repeat(list(passages), [len(found) for found in passages.values()])
    keys, counts = np.unique((terms << 32) | owners, return_counts=True)
    entries = np.zeros(len(keys), _ENTRY)
    entries["passage"], entries["count"] = keys & 0xFFFFFFFF, np.minimum(counts, 255)
    places, starts = np.unique(keys >> PART_BITS, return_index=True)  # of a term in a part
    names, bits = list(number_of), 32 - PART_BITS
    rows = (
        (names[place >> bits], place & ((1 << bits) - 1), part.tobytes())
        for place, part in zip(places.tolist(), np.split(entries, starts[1:]), strict=True)
    )
    db.executemany(_APPEND, sorted(rows) if len(places) else [])


def drop_dead(db: sqlite3.Connection) -> None:
    """Take out parts none of whose passages is left; single passages that have gone cost five bytes a term."""
    db.execute("DELETE FROM postings WHERE part NOT IN (SELECT DISTINCT number >> ? FROM chunks)", (PART_BITS,))
