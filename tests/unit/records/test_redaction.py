import base64
from urllib.parse import quote

import pytest

from records.redaction import BLOT, redacted


def test_keys_and_the_home_folder_are_removed_and_short_words_stay() -> None:
    text = "with sk-123456 in /people/me/kernels by the key abc"
    assert redacted(text, ("sk-123456", "abc"), "/people/me/") == f"with {BLOT} in ~/kernels by the key abc"
    assert redacted("/a", (), "/") == "/a"


@pytest.mark.parametrize("lead", ["", "a", "ab", "abc: "])
def test_a_key_in_another_form_is_removed_too(lead: str) -> None:
    key = "sk-canary/9f+x="
    for text in (quote(key, safe=""), key[::-1], base64.b64encode(f"{lead}{key} and more".encode()).decode()):
        assert BLOT in redacted(f"in {text} it", (key,), "/")


@pytest.mark.parametrize(("key", "is_removed"), [("abcde", False), ("abcdef", True)])
def test_a_key_of_six_characters_is_looked_for_and_a_shorter_one_is_not(key: str, is_removed: bool) -> None:
    assert redacted(f"by {key} here", (key,), "/") == f"by {BLOT if is_removed else key} here"
