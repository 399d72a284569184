from __future__ import annotations

from documents.splitter import LOW
from knowledge.chunks import cut


def test_an_edit_changes_only_the_passages_it_touches() -> None:
    parts = [f"# Part {i}\n" + f"sentence {i} about waves. " * 40 for i in range(5)]
    before = {c.id for c in cut("t", "\n\n".join(parts))}
    parts[2] += "one more sentence."
    after = {c.id for c in cut("t", "\n\n".join(parts))}
    assert (len(before), len(before & after)) == (5, 4)


def test_equal_passages_have_different_ids() -> None:
    chunks = cut("t", "# A\n" + "x" * LOW + "\n\n# A\n" + "x" * LOW)
    assert len({c.id for c in chunks}) == len(chunks) == 2
