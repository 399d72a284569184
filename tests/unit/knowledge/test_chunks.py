from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunks import HEADING, HIGH, LOW, cut


def test_a_heading_path_is_kept_and_small_sections_share_a_passage() -> None:
    body = "# Top\nintro\n\n## First\none\n\n### Deep\ntwo\n\n## Second\n" + "long text. " * 135
    chunks = cut("t", body)
    assert [c.section for c in chunks] == ["Top", "Top > Second"]
    assert "First\none" in chunks[0].text
    assert "Deep\ntwo" in chunks[0].text


def test_hashes_inside_a_fence_are_not_headings() -> None:
    (chunk,) = cut("t", "# A\n```sh\n# not a heading\n```\nafter")
    assert chunk.section == "A"
    assert "# not a heading" in chunk.text


def test_underlined_headings_of_restructured_text() -> None:
    chunks = cut("t", "Title\n=====\n\nintro\n\nPart\n----\n" + "word " * 200 + "\n\nNext\n----\nend")
    assert [c.section for c in chunks] == ["Title", "Title > Next"]
    assert "Part\nword" in chunks[0].text


def test_a_code_block_is_not_torn_where_it_fits() -> None:
    code = "```hip\n" + "int x = 0;\n" * 60 + "```"
    chunks = cut("t", "# A\n" + "text " * 180 + "\n\n" + code)
    assert sum(code in c.text for c in chunks) == 1


def test_an_edit_changes_only_the_passages_it_touches() -> None:
    parts = [f"# Part {i}\n" + f"sentence {i} about waves. " * 40 for i in range(5)]
    before = {c.id for c in cut("t", "\n\n".join(parts))}
    parts[2] += "one more sentence."
    after = {c.id for c in cut("t", "\n\n".join(parts))}
    assert (len(before), len(before & after)) == (5, 4)


def test_a_document_of_headings_only_is_still_a_passage() -> None:
    assert [c.text for c in cut("t", "# Only\n\n## Headings\n")] == ["# Only\n\n## Headings"]


def test_equal_passages_have_different_ids() -> None:
    chunks = cut("t", "# A\n" + "x" * LOW + "\n\n# A\n" + "x" * LOW)
    assert len({c.id for c in chunks}) == len(chunks) == 2


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="# \n`~-=ab|*\u00e9", max_size=4000))
def test_no_word_is_lost_and_no_passage_is_too_long(body: str) -> None:
    chunks = cut("t", body)
    assert all(len(c.text) <= HIGH and c.text.strip() for c in chunks)
    shown = "".join(c.text + c.section for c in chunks)
    if not any(line.startswith("#") or (line.strip() and set(line) <= set("~-= ")) for line in body.split("\n")):
        assert all(shown.count(letter) >= body.count(letter) for letter in "ab\u00e9")


def test_a_heading_without_end_is_cut() -> None:
    chunks = cut("T", f"# {'x' * 100_000}\n\n{'words ' * 1000}")
    assert len(chunks) > 3 and {len(chunk.section) for chunk in chunks} == {HEADING}


def test_lines_that_begin_with_thousands_of_spaces_are_no_labour() -> None:
    body = "".join(" " * depth + "- a\n" for depth in range(3000))
    chunks = cut("T", body)
    assert sum(chunk.text.count("a") for chunk in chunks) == 3000
