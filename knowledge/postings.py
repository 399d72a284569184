"""Okapi BM25 over postings that are packed arrays, one row for each term and part of the passages; two rankings in one.

SQLite's FTS5 with the same tokens takes 170 ms of CPU for a question over 100,000 passages, since it visits every row
of every term; arrays take about 2. Nothing else is needed of it: tokens, weights and filters are ours.
"""

from __future__ import annotations

import json
import math
import sqlite3
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import TYPE_CHECKING

from knowledge.tokens import KIN, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]  # of passages, by number

K1 = 1.2  # how soon repeats of a term stop counting
B = 0.5  # how much a long passage is held back
NOTE = 1.15  # worth of a shipped note, which is written for the questions asked here, over a page from elsewhere
OWN = 1.16  # of a text of the user's, for which nobody stated another source: before a shipped note of equal words
HISTORY = 0.8  # worth of a list of changes, which names everything and explains nothing
ASKED = 0.35  # what a passage gains where the question has all words of its document's title, or of one it answers
NEAR = 0.5  # weight of a concept whose words only go together, beside a word's own
SLIP, MOST_SLIPS = range(5, 40), 3  # letters of a word that may be mistyped; such words of a question that are mended
MOST_OF_ONE = 2  # passages of a document that come before those of others
PART_BITS = 12  # a part is 4,096 passages: a new passage rewrites no more than that of each of its terms
MANY, MOST_FREQUENT = 20, 32  # a term that every twentieth passage has is kept in memory, and so many of them
GROUPS = 64  # of passages far apart, whose best scores say which passages can be among the first
COUNT_BITS = 4  # an entry is 16 bits: the passage within its part, and how often it has the term, at most 15 times

SCHEMA = "CREATE TABLE IF NOT EXISTS postings(term TEXT, part INTEGER, packed BLOB NOT NULL, UNIQUE(term, part))"
SHIPPED = "shipped:"  # begins the place of a shipped note
_OF_CHANGES = ("changelog", "change_log", "changes.", "releasenotes", "release_notes", "/archive/", "/highlights/")
_OWN = "uri LIKE 'text:%' OR uri LIKE '%/' || source"
_WORTHS = {  # by a condition on documents, of which the last that holds counts
    _OWN: OWN,
    **{f"uri LIKE '%{name}%'": HISTORY for name in _OF_CHANGES},
    f"uri LIKE '{SHIPPED}%'": NOTE,
}
_APPEND = (
    "INSERT INTO postings VALUES(?, ?, ?)"
    " ON CONFLICT(term, part) DO UPDATE SET packed = CAST(packed || excluded.packed AS BLOB)"
)
Ranked = tuple[int, float]  # a passage's number and its score


@dataclass(frozen=True)
class Facts:
    """The data of every passage that a search needs in memory, for one state of the store, by passage number."""

    epoch: str
    living: int  # the number of passages that can be found
    documents: NDArray[np.int64]
    norms: NDArray[np.float32]  # the part of BM25 that a passage's length decides; infinite where there is no passage
    worths: NDArray[np.float32]  # of the passage's document
    masks: dict[str, Mask] = field(default_factory=dict)  # by GPU; this and those below fill as asked for
    having: dict[str, int] = field(default_factory=dict)  # passages by term
    frequent: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = field(default_factory=dict)  # terms' shares
    phrases: dict[int, list[tuple[frozenset[str], float]]] = field(default_factory=dict)  # and weights, by document

    def is_own(self, number: int) -> bool:
        """Tell whether a passage is of a text of the user's."""
        return abs(float(self.worths[number]) - OWN) < 1e-6


def _numbers(db: sqlite3.Connection, query: str, *values: str) -> Iterator[NDArray[np.int64]]:
    """Columns of whole numbers, which SQLite has joined: rows would take thrice the time."""
    import numpy as np

    return (np.fromstring(text or "", np.int64, sep=",") for text in db.execute(query, values).fetchone())


def read_facts(db: sqlite3.Connection, epoch: str) -> Facts:
    """Read the facts of the stored passages."""
    import numpy as np

    columns = "SELECT group_concat(number), group_concat(document), group_concat(length) FROM chunks WHERE length > 0"
    numbers, owners, lengths = _numbers(db, columns)
    size = (int(numbers.max(initial=0)) | ((1 << PART_BITS) - 1)) + 1  # whole parts: a posting may outlive its passage
    documents, norms = np.zeros(size, np.int64), np.full(size, np.inf, np.float32)
    documents[numbers] = owners
    norms[numbers] = K1 * (1.0 - B + B * lengths / (lengths.mean() if len(lengths) else 1.0))
    worth = np.ones(int(owners.max(initial=0)) + 1, np.float32)
    for condition, value in _WORTHS.items():
        (chosen,) = _numbers(db, f"SELECT group_concat(number) FROM documents WHERE {condition}")
        worth[chosen[chosen < len(worth)]] = value
    return Facts(epoch, len(numbers), documents, norms, worth[documents])


def allowed(db: sqlite3.Connection, facts: Facts, arch: str) -> Mask:
    """Mark the passages of documents that name this GPU or none; all of them for an empty name."""
    import numpy as np

    if arch not in facts.masks:
        query = "SELECT group_concat(number) FROM documents WHERE arch <> '' AND INSTR(' ' || arch || ' ', ?) = 0"
        (hidden,) = _numbers(db, query, f" {arch} " if arch else "")
        facts.masks[arch] = np.isfinite(facts.norms) & ~np.isin(facts.documents, hidden)
    return facts.masks[arch]


def rank(db: sqlite3.Connection, terms: Sequence[str], facts: Facts, allowed: Mask, k: int) -> list[Ranked]:
    """Find the best k allowed passages that have a term, with scores; ties go to the smaller number."""
    import numpy as np

    scores = np.zeros(len(facts.norms), np.float32)
    for term, times in Counter(terms).items():
        passages, share = facts.frequent.get(term) or _shares(db, term, facts)
        scores[passages] += share * np.float32(math.sqrt(times))  # the parts of an identifier are often asked twice
        if len(facts.frequent) < MOST_FREQUENT and len(passages) * MANY > facts.living:
            facts.frequent[term] = passages, share
    scores *= facts.worths
    scores *= allowed
    tops = scores.reshape(GROUPS, -1).max(axis=0)  # of k groups the best reach what the kth passage has
    least = np.partition(tops, len(tops) - k)[len(tops) - k] if len(tops) > k else 0.0
    candidates = np.flatnonzero((scores >= least) & (scores > 0.0))
    order = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return [(int(number), float(scores[number])) for number in order]


def _shares(db: sqlite3.Connection, term: str, facts: Facts) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the passages that have a term, and what it adds to the score of each where it is asked once."""
    import numpy as np

    query = f"SELECT part << {PART_BITS}, packed FROM postings WHERE term = ? AND part < ?"  # the last ones may be gone
    rows = db.execute(query, (term, len(facts.norms) >> PART_BITS)).fetchall()
    entries = np.frombuffer(b"".join([packed for _, packed in rows]), "<u2")
    passages = np.repeat(*np.array([(start, len(packed) // 2) for start, packed in rows], int).reshape(-1, 2).T)
    passages += entries >> COUNT_BITS
    counts = (entries & ((1 << COUNT_BITS) - 1)).astype(np.float32)
    norms = facts.norms[passages]
    idf = _idf(facts.living, int(np.isfinite(norms).sum())) * (NEAR if term.startswith(KIN) else 1.0)
    norms += counts
    counts *= np.float32(idf * (K1 + 1.0))
    counts /= norms
    return passages, counts


def mended(db: sqlite3.Connection, terms: Sequence[str], facts: Facts) -> list[str]:
    """Return the terms with words put right.

    For words that no passage has, add the most frequent one that differs by one letter or two swapped.
    """
    long = (t for t in dict.fromkeys(terms) if len(t) in SLIP and t.isalnum() and not t.isdigit())
    corrections = list[str]()
    for term in islice((t for t in long if not _having(db, facts, t)), MOST_SLIPS):  # each costs 0.4 ms of CPU
        often = "SELECT term FROM postings WHERE term IN (SELECT value FROM json_each(?)) GROUP BY term"
        near = json.dumps([*_near(term)])
        corrections += db.execute(f"{often} ORDER BY SUM(LENGTH(packed)) DESC, term LIMIT 1", (near,)).fetchone() or ()
    return [*terms, *corrections]


def _near(word: str) -> Iterator[str]:
    for index in range(len(word) + 1):
        head, tail = word[:index], word[index:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        yield from (head + letter + ending for letter in string.ascii_lowercase for ending in (tail, tail[1:]))


def favour(db: sqlite3.Connection, terms: Sequence[str], facts: Facts, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Raise passages by the share of their document's title, or of a question it says it answers, that was asked.

    No title raises a shipped note over a text of the user's that its words alone put before that note.
    """
    # BM25 does not count what else a title says: one with all its words in the question is about it.
    asked_terms = set(terms)

    def weight_of(phrase: Iterable[str]) -> float:
        return sum(_idf(facts.living, min(_having(db, facts, word), facts.living)) for word in phrase)

    shares = {}
    for document in {int(facts.documents[number]) for number, _ in ranked}:
        if document not in facts.phrases:
            row = db.execute("SELECT title || char(10) || asks FROM documents WHERE number = ?", (document,)).fetchone()
            lines = [word_set for line in row[0].split("\n") if (word_set := frozenset(words(line)))]
            facts.phrases[document] = [(phrase, weight_of(phrase)) for phrase in lines]
        shares[document] = max(
            (weight_of(phrase & asked_terms) / weight for phrase, weight in facts.phrases[document]), default=0.0
        )
    raised, below = dict[int, float](), 0.0  # the best of shipped notes and others whose words are no better
    for number, score in reversed(ranked):
        height = score * (1.0 + ASKED * shares[int(facts.documents[number])])
        is_own = facts.is_own(number)
        raised[number] = max(height, below) if is_own else height
        below = below if is_own else max(below, height)
    return sorted(raised.items(), key=lambda row: (-row[1], not facts.is_own(row[0]), row[0]))


def _having(db: sqlite3.Connection, facts: Facts, term: str) -> int:
    """Count the passages that have a term, and those that have gone since."""
    passage_count = facts.having.get(term)
    if passage_count is None:
        (size,) = db.execute("SELECT TOTAL(LENGTH(packed)) FROM postings WHERE term = ?", (term,)).fetchone()
        passage_count = int(size) // 2
        if passage_count:  # what no passage has would have no end
            facts.having[term] = passage_count
    return passage_count


def _idf(living: int, having: float) -> float:
    return math.log(1.0 + (living - having + 0.5) / (having + 0.5))


def fuse(words: Sequence[Ranked], near: Sequence[Ranked], weight: float) -> list[Ranked]:
    """Shares of the best score by words, and weighted cosines between the least and the largest of those found.

    Places alone, as in reciprocal rank fusion, would say that the first and the tenth differ little.
    """
    best = max((score for _, score in words), default=1.0)
    scores = {chunk: score / best for chunk, score in words}
    cosines = [cosine for _, cosine in near]
    least, span = min(cosines, default=0.0), max(cosines, default=0.0) - min(cosines, default=0.0)
    for chunk, cosine in near:
        scores[chunk] = scores.get(chunk, 0.0) + weight * ((cosine - least) / span if span else 1.0)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def spread(ranked: Sequence[Ranked], facts: Facts, k: int) -> list[Ranked]:
    """Find the best k passages, at most MOST_OF_ONE of one document while other documents have passages."""
    document_counts = Counter[int]()
    first, deferred = list[Ranked](), list[Ranked]()
    for number, score in ranked:
        if len(first) == k:
            break
        owner = int(facts.documents[number])
        document_counts[owner] += 1
        (first if document_counts[owner] <= MOST_OF_ONE else deferred).append((number, score))
    return (first + deferred)[:k]


def add(db: sqlite3.Connection, passages: Mapping[int, Sequence[str]]) -> None:
    """Write the terms of new passages by the passages' numbers, which were never used before."""
    import numpy as np

    if not passages:
        return
    number_of = defaultdict[str, int](count().__next__)
    terms = np.fromiter(map(number_of.__getitem__, chain.from_iterable(passages.values())), np.int64)
    owners = np.repeat(list(passages), [len(passage_terms) for passage_terms in passages.values()])
    keys, counts = np.unique((terms << 32) | owners, return_counts=True)
    inside = (keys & ((1 << PART_BITS) - 1)) << COUNT_BITS
    entries = (inside | np.minimum(counts, (1 << COUNT_BITS) - 1)).astype("<u2")
    term_parts, starts = np.unique(keys >> PART_BITS, return_index=True)  # of a term in a part
    names, bits = list(number_of), 32 - PART_BITS
    rows = (
        (names[term_part >> bits], term_part & ((1 << bits) - 1), part.tobytes())
        for term_part, part in zip(term_parts.tolist(), np.split(entries, starts[1:]), strict=True)
    )
    db.executemany(_APPEND, sorted(rows) if len(term_parts) else [])


def drop_dead(db: sqlite3.Connection) -> None:
    """Take out parts none of whose passages is left; single passages that have gone cost two bytes a term."""
    db.execute("DELETE FROM postings WHERE part NOT IN (SELECT DISTINCT number >> ? FROM chunks)", (PART_BITS,))
