"""An address with a password is a secret in all its forms; without one it is shown as it is."""

from __future__ import annotations

import base64

import pytest

from records.address import secrets_of, shown_address


@pytest.mark.parametrize(
    ("url", "shown", "hidden"),
    [
        ("https://host/v1", "https://host/v1", ()),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/", ()),
        ("https://me:s3cr%40t-word@host:8443/v1", "https://host:8443/v1", ("s3cr%40t-word", "s3cr@t-word")),
        ("https://only-a-token@host/v1", "https://host/v1", ("only-a-token",)),
        ("https://host/v1?api_key=abc-def&x=1", "https://host/v1", ("abc-def",)),
        ("postgresql://me@host/base", "postgresql://host/base", ()),
        ("postgresql://me:p/w?d@host/base?password=other", "…", ("p/w?d", "other")),
        ("https://me:word@[::1]:9/v1", "https://[::1]:9/v1", ("word",)),
    ],
)
def test_what_is_shown_and_what_is_secret(url: str, shown: str, hidden: tuple[str, ...]) -> None:
    found = secrets_of(url)
    assert set(hidden) <= set(found)
    assert (url in found) == bool(hidden)
    for secret in hidden:
        assert secret not in shown_address(url)
    if shown != "…":
        assert shown_address(url) == shown


def test_the_header_of_a_request_is_secret_too() -> None:
    assert base64.b64encode(b"me:a b").decode() in secrets_of("https://me:a%20b@host")
