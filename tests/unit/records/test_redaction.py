import base64
import json
from urllib.parse import quote

import pytest

from records.redaction import BLOT, redacted, without

KEY = "QJKi8rIkfElt355NntQ+lAjSPpd7YIH0CyupbOzJ"


def test_keys_and_the_home_folder_are_removed_and_short_words_stay() -> None:
    text = "with sk-123456 in /people/me/kernels by the key abc"
    assert redacted(text, ("sk-123456", "abc"), "/people/me/") == f"with {BLOT} in ~/kernels by the key abc"
    assert redacted("/a", (), "/") == "/a"


@pytest.mark.parametrize("lead", ["", "a", "ab", "abc: "])
def test_a_key_in_another_form_is_removed_too(lead: str) -> None:
    key = "sk-canary/9f+x="
    for text in (quote(key, safe=""), key[::-1], base64.b64encode(f"{lead}{key} and more".encode()).decode()):
        assert BLOT in redacted(f"in {text} it", (key,), "/")


@pytest.mark.parametrize(
    "spelt",
    [
        " ".join(KEY),
        "\n// ".join(KEY[n : n + 8] for n in range(0, len(KEY), 8)),
        json.dumps("\n".join(KEY))[1:-1],  # as the arguments of a tool call stand in JSON
        "-".join(KEY[::-1]),
        KEY.encode().hex(),
    ],
)
def test_a_key_with_other_signs_between_its_letters_is_removed(spelt: str) -> None:
    left = without(f"before {spelt} after", [KEY])
    assert left.startswith("before ") and left.endswith(" after")
    assert BLOT in left and len(left) < 40


def test_each_half_of_a_key_is_removed_and_a_quarter_of_it_stays() -> None:
    key = KEY.replace("+", "")
    half, quarter = len(key) // 2, len(key) // 4
    assert without(f"first {key[:half]}, then {key[half:]}.", [key]) == f"first {BLOT}, then {BLOT}."
    assert without(f"it begins with {key[:quarter]}", [key]) == f"it begins with {key[:quarter]}"


@pytest.mark.parametrize("length", range(18, 40))
def test_a_long_piece_is_found_wherever_it_begins(length: int) -> None:
    for at in range(len(KEY) - length + 1):
        piece = KEY[at : at + length]
        said = without(f"see {piece}.", [KEY])
        assert (BLOT in said) == (sum(c.isalnum() for c in piece) >= 19)


def test_the_host_of_a_secret_address_may_be_told() -> None:
    url = f"postgresql://person:{KEY}@database.somewhere.example:5432/kernels"
    text = "no server answers at postgresql://person@database.somewhere.example:5432/kernels"
    assert without(text, [url, KEY]) == text
    assert without(f"at {url}", [url, KEY]) == f"at {BLOT}"


@pytest.mark.parametrize(("key", "is_removed"), [("abcde", False), ("abcdef", True)])
def test_a_key_of_six_characters_is_looked_for_and_a_shorter_one_is_not(key: str, is_removed: bool) -> None:
    assert redacted(f"by {key} here", (key,), "/") == f"by {BLOT if is_removed else key} here"
