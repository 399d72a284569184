"""The seal on files of a spool folder: who knows the key wrote this content, for this question, in this folder.

The first line of a sealed file is an HMAC-SHA256 over the folder's id, the kind of the file, the hash of the request
and every byte behind that line, so that it is checked before anything is parsed. A result that belongs to another
request, another folder or nobody with the key is no answer. Contents can be read by whoever reads the folder.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Literal

from records.errors import SpoolError

Kind = Literal["request", "result"]
_HEAD = b"kernel-scientist-seal-1 "
_LINE = len(_HEAD) + 64 + 1  # the digest in hex, a line feed


@dataclass(frozen=True)
class FolderKey:
    """The key of one folder; an empty one neither seals nor asks for a seal."""

    folder: str  # the folder's id
    key: bytes = field(default=b"", repr=False)

    def sealed(self, kind: Kind, name: str, data: bytes) -> bytes:
        """Put the seal in front of the content; leave it as it is without a key."""
        return _HEAD + self._digest(kind, name, data) + b"\n" + data if self.key else data

    def opened(self, kind: Kind, name: str, data: bytes) -> bytes:
        """Return the content behind a seal that is right; SpoolError says in a few words what is wrong with it."""
        is_sealed = data.startswith(_HEAD)
        if not self.key:
            if is_sealed:
                raise SpoolError("is sealed with a key that is not set here")
            return data
        if not is_sealed:
            raise SpoolError("is not sealed with the key of this folder")
        content = data[_LINE:]
        if not hmac.compare_digest(data[len(_HEAD) : _LINE], self._digest(kind, name, content) + b"\n"):
            raise SpoolError("has a wrong seal: it was altered, or it is for another request, folder or key")
        return content

    def _digest(self, kind: Kind, name: str, data: bytes) -> bytes:
        # Each part has its length in front, so that no two sets of parts make the same text.
        parts = (self.folder.encode(), kind.encode(), name.encode(), data)
        text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hmac.digest(self.key, text, "sha256").hex().encode()
