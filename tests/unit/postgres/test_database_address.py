from __future__ import annotations

import pytest

from postgres.database_address import address_of
from records.errors import SettingsError


@pytest.mark.parametrize(
    ("url", "shown_url"),
    [
        ("postgresql://me:s%3Acret@db.example:5433/team", "postgresql://me@db.example:5433/team"),
        ("postgres://db.example/team?sslmode=require", "postgresql://db.example/team"),
        ("postgresql://me@/team?host=/run/postgresql&password=s:cret", "postgresql://me@/team?host=/run/postgresql"),
        ("postgresql://me:s%3Acret@one:1,two:2/team", "postgresql://me@one,two:1,2/team"),
    ],
)
def test_a_place_shows_where_a_database_is_and_never_its_password(url: str, shown_url: str) -> None:
    address = address_of(url)
    assert address.shown_url == shown_url
    assert "cret" not in address.shown_url + repr(address)
    assert ("s:cret" in address.passwords) == ("cret" in url)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:s3cret@host/team",
        "postgresql://me:s3cret@host:port/team?nonsense=1",
        "postgresql://me:s3%zzcret@host/team",
        "postgresql://me:s3cret@[host/team",
        "postgresql://me:s3cret@host",
    ],
)
def test_a_bad_address_is_refused_without_a_word_of_it(url: str) -> None:
    with pytest.raises(SettingsError, match="postgresql://USER@HOST:PORT/DATABASE") as caught:
        address_of(url)
    assert "cret" not in str(caught.value) and "team" not in str(caught.value)
