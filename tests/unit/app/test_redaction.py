from app.redaction import BLOT, redacted


def test_keys_and_the_home_folder_are_removed_and_short_words_stay() -> None:
    text = "with sk-123456 in /people/me/kernels by the key abc"
    assert redacted(text, ("sk-123456", "abc"), "/people/me/") == f"with {BLOT} in ~/kernels by the key abc"
    assert redacted("/a", (), "/") == "/a"
