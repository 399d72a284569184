"""A PDF to Markdown, a section a page. The library, pypdf, comes with the extra `documents`."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Iterator

from records.errors import DocumentError

CHARACTERS = 20_000_000  # of text in one document


def pages_of(name: str, data: bytes) -> Iterator[tuple[int, str]]:
    """Number and text of each page that has text.

    Raises:
        DocumentError: no PDF, one that is encrypted or damaged, or the library is missing.
    """
    try:
        pypdf = importlib.import_module("pypdf")
    except ImportError:
        raise DocumentError(
            f"the document {name} is a PDF; install pypdf, of the extra `documents`, to add it"
        ) from None
    total = 0
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"the document {name} is encrypted; it cannot be added")
        for number, page in enumerate(reader.pages, 1):
            text = _plain(page.extract_text())
            total += len(text)
            if total > CHARACTERS:
                raise DocumentError(f"the document {name} holds more than {CHARACTERS // 10**6} million characters")
            if text:
                yield number, text
    except DocumentError:
        raise
    # The library raises nearly every builtin error for damage that it did not expect.
    except (pypdf.errors.PyPdfError, ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
            RecursionError, MemoryError, NotImplementedError, AssertionError) as error:  # fmt: skip
        said = (str(error).splitlines() or [""])[0][:100]
        raise DocumentError(f"the document {name} is a damaged PDF ({type(error).__name__}: {said})") from error


def from_pages(title: str, pages: list[tuple[int, str]]) -> str:
    """Markdown with a heading for each page, so that a passage names its page."""
    return "\n\n".join([f"# {title}"] * bool(title) + [f"## page {number}\n\n{text}" for number, text in pages])


def _plain(text: str) -> str:
    """Words that were broken at line ends whole again; no line that Markdown would take for a heading."""
    joined = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text)
    return re.sub(r"^(#+)(?=\s)", r"\\\1", joined, flags=re.MULTILINE).strip()
