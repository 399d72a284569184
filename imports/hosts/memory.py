"""Why a host half gives no plan."""

from __future__ import annotations


class HostUnclear(Exception):
    """The reason why a host half gives no plan, in one sentence."""
