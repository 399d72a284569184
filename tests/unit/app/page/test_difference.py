from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.report.difference import difference, excerpt, listing

TEXTS = st.lists(st.sampled_from(["a", "b", "  c", "}", ""]), max_size=30).map(lambda lines: "\n".join(lines) + "\n")


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_out_of_the_difference(old: str, new: str) -> None:
    rows = difference(old, new)
    before, after = old.split("\n")[:-1], new.split("\n")[:-1]
    for row in rows:
        if row.sign in (" ", "-"):
            assert row.old is not None
            assert before[row.old - 1] == row.text
        if row.sign in (" ", "+"):
            assert row.new is not None
            assert after[row.new - 1] == row.text
    skipped = sum(int(row.text.split()[0]) for row in rows if row.sign == "gap")
    assert sum(row.old is not None for row in rows) + skipped == len(before)
    assert sum(row.new is not None for row in rows) + skipped == len(after)


def test_long_unchanged_stretches_become_gaps() -> None:
    old = "\n".join(str(n) for n in range(40)) + "\n"
    rows = difference(old, old.replace("20\n", "twenty\n"))
    assert [r.sign for r in rows] == ["gap", " ", " ", " ", "-", "+", " ", " ", " ", "gap"]


def test_an_excerpt_marks_its_line_and_keeps_to_the_text() -> None:
    source = "one\ntwo\nthree\nfour\n"
    assert [(r.sign, r.new, r.text) for r in excerpt(source, 1, around=1)] == [("-", 1, "one"), (" ", 2, "two")]
    assert excerpt(source, 5) == excerpt(source, 0) == excerpt(source, None) == ()


def test_lines_are_counted_as_a_compiler_counts_them() -> None:
    assert [r.text for r in listing("a\u2028b\x0cc\nd")] == ["a\u2028b\x0cc", "d"]
