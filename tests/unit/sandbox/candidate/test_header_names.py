from __future__ import annotations

from sandbox.candidate.header_names import INCLUDE, header_words, is_ours, words_of_included
from sandbox.candidate.pp_tokens import scan


def test_the_words_are_the_names_that_the_scanner_finds_in_the_device_headers() -> None:
    texts = [p.read_text() for p in INCLUDE.rglob("*") if p.is_file() and p.suffix != ".toml"]
    names = {token.text for text in texts for token in scan(text) if token.kind == "name"}
    assert (
        words_of_included("#include ANY") == names and header_words() < names and {"threadIdx", "__syncthreads"} < names
    )


def test_the_judges_names_begin_with_its_letters() -> None:
    assert is_ours("ks_load") and is_ours("KS_LAB") and not is_ours("ks_") and not is_ours("tasks_x")
