"""Terms by number: those of a text alone whatever stands beside it, from any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from knowledge.vocabulary import Vocabulary, tokens

TEXTS = ["the shared", "memory of a streaming multiprocessor", "", "8-bit float in fp8", "__syncthreads() in wave64"]


def named(vocabulary: Vocabulary, texts: list[str]) -> list[list[str]]:
    return [sorted(vocabulary.names[n] for n in found) for found in vocabulary.terms(texts)]


def test_each_text_has_its_own_terms_and_no_phrase_goes_from_one_to_the_next() -> None:
    together = named(Vocabulary(), TEXTS)
    assert together == [sorted(tokens(text)) for text in TEXTS]
    assert "=lds" not in together[0] + together[1]
    assert "=lds" in tokens("the shared memory")
    assert "=compute-unit" in together[1]
    assert together[2] == []
    assert together[3].count("=fp8") == 2, "a phrase of three words, and a word"


def test_a_phrase_at_the_end_or_cut_short_is_no_fault() -> None:
    for text in ("shared", "local data", "8 bit", "local data share", "last level cache"):
        assert tokens(text)
    assert "=lds" not in tokens("local data")
    assert Vocabulary().terms([]) == []
    assert [len(found) for found in Vocabulary().terms([""])] == [0]


def test_threads_share_a_vocabulary() -> None:
    vocabulary = Vocabulary()
    texts = [[f"word{n % 97} shared memory of tile_{n % 13}"] for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: named(vocabulary, text), texts))
    assert found == [[sorted(tokens(text[0]))] for text in texts]
