from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from documents.splitter import HEADING, HIGH, passages


def test_a_heading_path_is_kept_and_small_sections_share_a_passage() -> None:
    body = "# Top\nintro\n\n## First\none\n\n### Deep\ntwo\n\n## Second\n" + "long text. " * 135
    found = passages(body)
    assert [section for section, _ in found] == ["Top", "Top > Second"]
    assert "First\none" in found[0][1]
    assert "Deep\ntwo" in found[0][1]


def test_hashes_inside_a_fence_are_not_headings() -> None:
    ((section, text),) = passages("# A\n```sh\n# not a heading\n```\nafter")
    assert section == "A"
    assert "# not a heading" in text


def test_underlined_headings_of_restructured_text() -> None:
    found = passages("Title\n=====\n\nintro\n\nPart\n----\n" + "word " * 200 + "\n\nNext\n----\nend")
    assert [section for section, _ in found] == ["Title", "Title > Next"]
    assert "Part\nword" in found[0][1]


def test_a_code_block_is_not_torn_where_it_fits() -> None:
    code = "```hip\n" + "int x = 0;\n" * 60 + "```"
    found = passages("# A\n" + "text " * 180 + "\n\n" + code)
    assert sum(code in text for _, text in found) == 1


def test_a_document_of_headings_only_is_still_a_passage() -> None:
    assert [text for _, text in passages("# Only\n\n## Headings\n")] == ["# Only\n\n## Headings"]


@settings(max_examples=150)
@given(st.text(alphabet="# \n`~-=ab|*\u00e9", max_size=4000))
def test_no_word_is_lost_and_no_passage_is_too_long(body: str) -> None:
    found = passages(body)
    assert all(len(text) <= HIGH and text.strip() for _, text in found)
    shown = "".join(text + section for section, text in found)
    if not any(line.startswith("#") or (line.strip() and set(line) <= set("~-= ")) for line in body.split("\n")):
        assert all(shown.count(letter) >= body.count(letter) for letter in "ab\u00e9")


def test_a_heading_without_end_is_cut() -> None:
    found = passages(f"# {'x' * 100_000}\n\n{'words ' * 1000}")
    assert len(found) > 3 and {len(section) for section, _ in found} == {HEADING}


def test_lines_that_begin_with_thousands_of_spaces_are_no_labour() -> None:
    body = "".join(" " * depth + "- a\n" for depth in range(3000))
    found = passages(body)
    assert sum(text.count("a") for _, text in found) == 3000
