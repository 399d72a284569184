"""Files to documents. Formats that can be hostile are read in a child, which a signal ends when it takes long.

The child reads a path a line and answers in one line of JSON: {"body": ...} or {"why": ...}.
"""

from __future__ import annotations

import base64
import errno
import json
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from documents.document import UNSAID, Citation, Text, make_text, require_word
from documents.encodings import clean, decode
from records.errors import DocumentError
from records.files import read_strange
from records.outside_text import decoded

PLAIN, RST = (".md", ".markdown", ".mdx", ".txt"), (".rst", ".rest")
HTML, NOTEBOOK, PDF = (".html", ".htm", ".xhtml"), (".ipynb",), (".pdf",)
CODE = (".py", ".pyi", ".hip", ".cu", ".cuh", ".cl", ".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")
SUFFIXES = (*PLAIN, *RST, *HTML, *NOTEBOOK, *PDF, *CODE, *HEADERS)  # what a folder is searched for
_MEGABYTES = {**dict.fromkeys(NOTEBOOK, 20), **dict.fromkeys(PDF, 100)}
TEXT_MEGABYTES = 5
CPU_S = 6.0  # for one file, and for each further page of a PDF that had text PAGE_CPU_S more
PAGE_CPU_S = 1.0
MEMORY_BYTES = 2 << 30


def most_bytes(path: Path) -> int:
    """Return the largest file of this kind that is read."""
    return _MEGABYTES.get(path.suffix.lower(), TEXT_MEGABYTES) * 10**6


class DocumentReader(AbstractContextManager["DocumentReader"]):
    """Reads files, and owns the child that does so for formats other than plain text. Use it in a `with` block."""

    def __init__(self, cpu_s: float = CPU_S) -> None:
        """Prepare a child, which starts with the first file that needs it; `cpu_s` is what it may use for one file."""
        self._cpu_s = cpu_s
        self._child: subprocess.Popen[str] | None = None

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._end(self._child)

    def read(
        self, path: Path, citation: Citation = UNSAID, rule: Citation = UNSAID, location: str = "", uri: str = ""
    ) -> Text:
        """Read the document in a file; DocumentError, in one sentence, where there is none."""
        from documents.markup import from_markdown

        try:
            data = read_strange(path, most_bytes(path))
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise DocumentError(
                    f"the document {path} is larger than {most_bytes(path) // 10**6} MB; split it"
                ) from error
            reason = "it is a link; name the file itself" if error.errno == errno.ELOOP else error.strerror or error
            raise DocumentError(f"the document {path} cannot be read: {reason}") from error
        if not data:
            raise DocumentError(f"the document {path} is empty; there is nothing to add")
        is_child = path.suffix.lower() in SUFFIXES and path.suffix.lower() not in PLAIN
        body = self._read_in_child(path, data) if is_child else from_markdown(decode(path, data))
        return make_text(uri or str(path), str(path), data, body, citation, rule, location)

    def _read_in_child(self, path: Path, data: bytes) -> str:
        child = self._child or self._start()
        assert child.stdin and child.stdout
        try:
            child.stdin.write(json.dumps([str(path), base64.b64encode(data).decode()]) + "\n")  # it opens no file
            child.stdin.flush()
            answer = child.stdout.readline()
        except OSError:
            answer = ""
        if not answer.endswith("\n"):
            self._end(child)
            raise DocumentError(f"the document {path} takes too long to read, or too much memory; it is left out")
        reply = decoded(answer)
        if "why" in reply:
            raise DocumentError(reply["why"])
        return str(reply["body"])

    def _start(self) -> subprocess.Popen[str]:
        root = Path(__file__).parents[1]
        self._child = subprocess.Popen(
            [sys.executable, "-m", "documents.reader", str(self._cpu_s)], cwd=root, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8", errors="surrogatepass",
            start_new_session=True,
        )  # fmt: skip
        return self._child

    def _end(self, child: subprocess.Popen[str]) -> None:
        self._child = None
        child.kill()
        child.communicate()


def _body(path: Path, data: bytes) -> str:
    """Make the Markdown of a file of any format, read here: in the child, which alone needs the libraries for it."""
    from documents.markup import from_html, from_notebook, from_rst
    from documents.pdf import from_pdf
    from documents.source_code import from_code

    suffix = path.suffix.lower()
    if suffix in PDF:
        return from_pdf(path, data, lambda: _allow(PAGE_CPU_S + signal.getitimer(signal.ITIMER_PROF)[0]))
    text = clean(decode(path, data))
    require_word(str(path), text)
    if suffix in RST:
        return from_rst(text)
    if suffix in HTML:
        title, body = from_html(text)
        if not body.strip():
            raise DocumentError(
                f"the document {path} has no text of its own; a script or a frame may show it in a browser"
            )
        return body if not title or body.startswith("# ") else f"# {title}\n\n{body}"
    return from_notebook(str(path), text) if suffix in NOTEBOOK else from_code(path, text)


def _allow(cpu_s: float) -> None:
    """Let the kernel end this process after so much processor time, in whatever code it is."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)


def _serve(cpu_s: float) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        name, coded = json.loads(line)
        path = Path(name)
        _allow(cpu_s)
        try:
            answer = {"body": _body(path, base64.b64decode(coded))}
        except DocumentError as error:
            answer = {"why": str(error)}
        except (OSError, MemoryError, RecursionError, ValueError, AssertionError, ArithmeticError) as error:
            answer = {"why": f"the document {path} cannot be read ({type(error).__name__})"}
        _allow(0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(float(sys.argv[1]))
