from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.ledgers import KINDS, Opening, openings


@pytest.fixture(params=KINDS)
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    """Opens the test's own database, on SQLite and on Postgres."""
    return openings(request.param, tmp_path, lambda: request.getfixturevalue("postgres"))
