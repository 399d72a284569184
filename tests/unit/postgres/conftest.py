"""Tests of the extra `postgres`, left out where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("psycopg") else ["test_*.py"]
