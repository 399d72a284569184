"""Files that are there whole or not at all, whoever else reads or writes them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes, *, is_public: bool = False, is_durable: bool = False) -> None:
    """Write beside the place and rename; nothing is left where that fails. OSError.

    `is_public`: others of this machine may read it. `is_durable`: it outlives a loss of power once this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        if is_public:
            Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # gone already unless something failed
    if is_durable:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
