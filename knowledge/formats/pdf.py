"""PDF to text by page. The library, pypdf, comes with the extra `documents`."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

from records.errors import DocumentError

PDF_CHARACTERS = 20_000_000  # of text


def pages_of(path: Path, data: bytes) -> Iterator[tuple[int, str]]:
    """Number and text of each page that has text; DocumentError for a file that is damaged, encrypted or too long."""
    try:
        pypdf = importlib.import_module("pypdf")
    except ImportError:
        why = f"the document {path} is a PDF; install pypdf, of the extra `documents`, to add it"
        raise DocumentError(why) from None
    total = 0
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"the document {path} is encrypted; it cannot be added")
        for number, page in enumerate(reader.pages, 1):
            whole = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", page.extract_text())  # words that line ends broke
            text = re.sub(r"^(#+)(?=\s)", r"\\\1", whole, flags=re.MULTILINE).strip()  # no line is a heading
            total += len(text)
            if total > PDF_CHARACTERS:
                raise DocumentError(f"the document {path} holds more than {PDF_CHARACTERS // 10**6} million characters")
            if text:
                yield number, text
    except DocumentError:
        raise
    # The library raises nearly every builtin error for damage that it did not expect.
    except (pypdf.errors.PyPdfError, ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
            RecursionError, MemoryError, NotImplementedError, AssertionError) as error:  # fmt: skip
        said = (str(error).splitlines() or [""])[0][:100]
        raise DocumentError(f"the document {path} is a damaged PDF ({type(error).__name__}: {said})") from error
