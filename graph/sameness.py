"""Whether an experiment made the change that was proposed, from its mechanism and words, not from equal titles.

A title's words count by how rare they are among the run's proposals, so that *Stream-K* says more than *tiles*.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from records.experiment import Experiment, Proposed

COVERED = 0.75  # share of a title's weight that a change has where it is the same one
STEM = 5  # letters by which words are compared: split, splits and splitting are one
_WORD = re.compile(r"[a-z0-9]{3,}|\bk\b")
_PLAIN_WORDS = frozenset({"and", "for", "from", "into", "its", "one", "over", "per", "than", "that", "the", "with"})


class Sameness:
    """The words of a run's changes, and how rare each is."""

    def __init__(self) -> None:
        """Nothing was proposed yet."""
        self._counts, self._changes = Counter[str](), 0

    def learn(self, change: Proposed | Experiment) -> None:
        """Count the words of one more change."""
        self._changes += 1
        self._counts.update(_change_words(change))

    def is_tried_by(self, experiment: Experiment, proposed: Proposed) -> bool:
        """Tell whether an experiment's change is or holds the proposed one; never where both name other mechanisms."""
        if experiment.mechanism != proposed.mechanism and experiment.mechanism and proposed.mechanism:
            return False
        title_words = _words(proposed.title)
        weight = self._weight(title_words)
        return weight > 0 and self._weight(title_words & _change_words(experiment)) >= COVERED * weight

    def _weight(self, words: Iterable[str]) -> float:
        return sum(math.log((self._changes + 1) / (self._counts[word] + 0.5)) for word in words)


def _change_words(change: Proposed | Experiment) -> frozenset[str]:
    """List the words of a title and of the code changes asked for; the reasons for them hold other ideas' words too."""
    return _words(" ".join((change.title, *change.rubric)))


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in _WORD.findall(text.lower()) if word not in _PLAIN_WORDS)
