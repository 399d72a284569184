"""The reason why something cannot become a task."""

from __future__ import annotations


class ImportRefused(Exception):
    """One sentence for the person who asked."""
