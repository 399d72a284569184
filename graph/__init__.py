"""The state graph that runs the experiments: `from graph import build_graph, Context`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.build import build_graph
    from graph.context import Context, Limits

__all__ = ["Context", "Limits", "build_graph"]

_HOMES = {"build_graph": "build", "Context": "context", "Limits": "context"}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `graph.context` alone does not cost the import of langgraph."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graph' has no attribute {name!r}")
    return getattr(importlib.import_module(f"graph.{_HOMES[name]}"), name)
