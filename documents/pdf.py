"""PDF to Markdown by page. The library, pypdf, comes with the extra `documents`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

from records.errors import DocumentError

PDF_CHARACTERS = 20_000_000  # of text


def from_pdf(path: Path, data: bytes, go_on: Callable[[], None]) -> str:
    """Markdown under the file's own title, with a section for each page that has text; each calls `go_on`.

    DocumentError for a file that is damaged, encrypted, too long or of pictures only.
    """
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError:
        why = f"the document {path} is a PDF; install pypdf, of the extra `documents`, to add it"
        raise DocumentError(why) from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"the document {path} is encrypted; it cannot be added")
        parts, total = [f"# {_title(reader.metadata) or path.stem}"], 0
        for number, page in enumerate(reader.pages, 1):
            joined = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", page.extract_text())  # words that line ends broke
            text = re.sub(r"^(#+)(?=\s)", r"\\\1", joined, flags=re.MULTILINE).strip()  # no line is a heading
            total += len(text)
            if total > PDF_CHARACTERS:
                raise DocumentError(f"the document {path} holds more than {PDF_CHARACTERS // 10**6} million characters")
            if text:
                parts.append(f"## page {number}\n\n{text}")
                go_on()
    # The library raises nearly every builtin error for damage that it did not expect.
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
            RecursionError, MemoryError, NotImplementedError, AssertionError) as error:  # fmt: skip
        reason = (str(error).splitlines() or [""])[0][:100]
        raise DocumentError(f"the document {path} is a damaged PDF ({type(error).__name__}: {reason})") from error
    if len(parts) == 1:
        raise DocumentError(f"the document {path} has no text, only pictures; it cannot be added")
    return "\n\n".join(parts)


def _title(about: object) -> str:
    """Find the title that the file gives itself; a single word is mostly a file's name or what a program puts there."""
    words = str(getattr(about, "title", None) or "").split()
    return " ".join(words) if len(words) > 1 and words[:2] != ["Microsoft", "Word"] else ""
