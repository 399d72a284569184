"""Texts and bytes addressed by their SHA-256; written once, verified when read. The last texts stay in memory.

Up to `SMALL_BYTES` they are rows of the ledger, whose commit is one wait for the disk where a file and its folder are
two, and none of their own where the record that names them is written together with them. Larger ones are files.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

from records.errors import DamagedRecord, LedgerError
from records.files import write_whole
from records.ledger import Ledger

SMALL_BYTES = 256 * 1024
REMEMBERED = 32  # texts: an experiment reads its draft, its parents and its literature at every stage
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ArtefactStore:
    """Sources, prompts, replies and logs. Safe for threads and processes: equal content has one name."""

    def __init__(self, folder: Path | None, ledger: Ledger | None = None) -> None:
        """Open or create the folder; LedgerError when it cannot be written to.

        Without a ledger all are files. Without a folder all are rows: for a ledger that other machines share.
        """
        self.folder = folder
        self._ledger = ledger
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise LedgerError(
                f"the artefact folder {folder} cannot be written to ({error.strerror}); choose another run folder"
            ) from None

    def put(self, content: str | bytes, is_synced: bool = True) -> str:
        """Store text (as UTF-8) or bytes and return the digest; storing it again changes nothing.

        Without `is_synced` a small one is on the disk with the ledger's next commit that waits for it: only for what a
        resumed run stores again.
        """
        data = content.encode("utf-8") if isinstance(content, str) else content
        digest = hashlib.sha256(data).hexdigest()
        if self._ledger is not None and (self.folder is None or len(data) <= SMALL_BYTES):
            self._ledger.add_artefact(digest, data, is_synced)
        else:
            self._write(digest, data)
        if isinstance(content, str):
            self._remember(digest, content)
        return digest

    def _write(self, digest: str, data: bytes) -> None:
        path = self._path(digest)
        try:
            if not path.exists() or path.read_bytes() != data:
                write_whole(path, data, is_durable=True)
        except OSError as error:
            raise LedgerError(
                f"the artefact {digest[:12]} cannot be written to {self._location} ({error.strerror}); "
                "free some space or repair the folder, then resume the run"
            ) from None

    def get(self, digest: str) -> bytes:
        """Return the stored bytes; LedgerError when they are missing or do not match the digest."""
        stored = None if self._ledger is None else self._ledger.artefact(digest)
        try:
            data = self._path(digest).read_bytes() if stored is None else stored
        except OSError as error:
            raise LedgerError(
                f"the artefact {digest[:12]} cannot be read from {self._location} ({error.strerror}); "
                "restore the run folder from a copy"
            ) from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise DamagedRecord(
                f"the artefact {digest[:12]} in {self._location} is damaged; restore it from a copy, or go on from "
                "before it with `kernel-scientist resume RUN --before GENERATION`"
            )
        return data

    @property
    def _location(self) -> str:
        return str(self.folder or (self._ledger and self._ledger.engine.place))

    def text(self, digest: str) -> str:
        """Return the stored text, from memory where it was stored or read lately."""
        with self._lock:
            text = self._texts.get(digest)
            if text is not None:
                self._texts.move_to_end(digest)
                return text
        return self._remember(digest, self.get(digest).decode("utf-8"))

    def _remember(self, digest: str, text: str) -> str:
        with self._lock:
            self._texts[digest] = text
            self._texts.move_to_end(digest)
            if len(self._texts) > REMEMBERED:
                self._texts.popitem(last=False)
        return text

    def _path(self, digest: str) -> Path:
        if self.folder is None:
            raise LedgerError(f"the artefact {digest[:12]} is missing from {self._location}; restore it from a copy")
        if not _DIGEST.fullmatch(digest):
            raise LedgerError(f"{digest[:80]!r} is not the digest of an artefact; the record that names it is damaged")
        return path_of(self.folder, digest)


def path_of(folder: Path, digest: str) -> Path:
    """Return the place of content that is a file."""
    return folder / digest[:2] / digest[2:4] / digest
