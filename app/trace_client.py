"""A client of LangSmith whose senders never hold the exit of a program: what they have not sent by then is lost."""

from __future__ import annotations

from typing import Any

from langsmith import Client
from langsmith.schemas import LangSmithInfo


class TraceClient(Client):
    """The SDK's client; its threads are daemons, and it sends through none of the pools that an exit waits for."""

    @property
    def _use_daemon_threads(self) -> bool:  # the SDK reads a variable of the environment, once for all clients
        return True

    @_use_daemon_threads.setter
    def _use_daemon_threads(self, is_wanted: Any) -> None:
        """Keep it so."""

    @property
    def info(self) -> LangSmithInfo:
        """Abilities of the endpoint, without compressed traces, which are sent by a pool of threads."""
        info: LangSmithInfo = super().info
        return LangSmithInfo(**{**dict(info), "instance_flags": {}})
