"""Documents: their records, and Markdown or plain text with front matter to one of them."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from knowledge.given_values import require
from records.errors import DocumentError

READER = 6  # part of a file's mark and digest: raise it when a file would be read otherwise
_FIELD = re.compile(r"[\"']?(\w[\w .-]{,80}?)[\"']?\s{,20}:\s*(?:[|>][+-]?\d?$)?(.*)")  # `|` or `>`: on the next lines
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})(?s:.*?)(?:^[ \t]*\1|\Z)"  # code between fences
    r"|^\#\s+(.+)$|^(\w.*)\n=+[ \t]*$|^[ \t]*<h1\b[^>]{,300}>(?s:(.{,1000}?))</h1>",
    re.MULTILINE,
)
_DECLARED = re.compile(rb"(?:charset|coding)\s*[=:]\s*[\"']?([\w.:-]+)")  # in HTML, XML and source code
_LETTER = re.compile(r"[^\W_]")
_ALPHABET = re.compile(r"(iso8859|cp\d|mac|koi8|shift_jis|euc_|iso2022|big5|gb)\S*")  # codecs that are tables
MOST_FIELDS = 20_000  # characters of front matter that a program wrote
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")  # a terminal's colours and titles
_STRUCK = re.compile(rb"[^\n]\x08")  # what a printed manual overstrikes for bold and underlined letters
_LINE_ENDS = dict.fromkeys("\n\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n")
_NO_CONTROL = dict.fromkeys([*range(32), 127]) | {ord(end): "\n" for end in _LINE_ENDS} | {ord("\t"): "\t"}


@dataclass(frozen=True)
class Document:
    """A document as the store knows it."""

    id: str
    title: str
    source: str  # what to cite
    licence: str
    arch: str  # names with a space between, empty where it holds for every GPU
    tags: tuple[str, ...]  # words to be found by, beside those of the text
    uri: str  # where it came from: a path, shipped:NAME or text:NAME
    sha256: str
    chunks: int
    added_at: str  # UTC, ISO 8601


@dataclass(frozen=True)
class Text:
    """A file read and understood, not yet stored. `body` is Markdown without front matter and control characters."""

    uri: str
    sha256: str  # of the file's bytes
    title: str
    source: str
    licence: str
    arch: str
    tags: tuple[str, ...]  # with the words of `asks`
    asks: tuple[str, ...]  # what somebody would ask whom the document answers
    body: str


class Added(NamedTuple):
    """The outcome of adding one file."""

    id: str  # empty where it was skipped
    title: str
    chunks: int
    status: str  # added | unchanged | replaced | skipped
    why: str = ""  # the reason for which a file was skipped


@dataclass(frozen=True)
class Citation:
    """The citation that a person gives with a document; what is empty is taken from the document."""

    title: str = ""
    source: str = ""
    licence: str = ""
    arch: str = ""
    tags: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            require(isinstance(value, str), f"a citation's {name} is text", value)

    def __str__(self) -> str:
        return "\0".join((self.title, self.source, self.licence, self.arch, self.tags)).strip("\0")


def make_text(
    uri: str, name: str, data: bytes, body: str, given: Citation | None = None, rest: Citation | None = None
) -> Text:
    """A document from its bytes and its Markdown; DocumentError where there is not a word in it.

    `rest` counts where neither the person nor the document says anything.
    """
    given, rest = given or Citation(), rest or Citation()
    fields, body = _front_matter(clean(body))
    require_word(name, body)
    return Text(
        uri=storable(uri),
        sha256=hashlib.sha256(data + f"{given}{READER}".encode("utf-8", "surrogatepass")).hexdigest(),
        title=_one_line(given.title or fields.get("title") or _first_heading(body) or Path(name).stem),
        source=_one_line(given.source or fields.get("source") or rest.source or Path(name).name),
        licence=_one_line(
            given.licence or fields.get("licence") or fields.get("license") or rest.licence or "not stated"
        ),
        arch=" ".join(_names(given.arch or fields.get("arch", rest.arch))).lower(),
        tags=tuple(_names(f"{given.tags or fields.get('tags', rest.tags)} {fields.get('asks', '')}")),
        asks=tuple(_phrases(fields.get("asks", ""))),
        body=body,
    )


def require_word(name: str, text: str) -> None:
    """Raise DocumentError where there is not a word in a text: passages of marks alone are found by no question."""
    if not _LETTER.search(text):
        why = "has no word in it" if text.strip() else "is empty"
        raise DocumentError(f"the document {name} {why}; there is nothing to add")


def decode(path: Path, data: bytes) -> str:
    """Text in whichever encoding it is: UTF-8 or UTF-16 as marked or found, else the likeliest.

    DocumentError where the bytes are no text.
    """
    text = _wide(data)
    if text is None and b"\x08" in data:
        data = _STRUCK.sub(b"", data)
    head = data[:65536] if text is None else text[:65536].encode("latin-1", "replace")
    is_text = b"\0" not in data if text is None else "\0" not in text and text.count("\ufffd") <= len(text) // 100
    if not is_text or len(head) - len(head.translate(None, _CONTROL_BYTES)) > len(head) // 50:
        raise DocumentError(f"the document {path} is binary, not text; it cannot be added")
    if text is not None:
        return text
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _guessed(data)


_CONTROL_BYTES = bytes([*range(1, 9), *range(14, 27), *range(28, 32), 127])


def _wide(data: bytes) -> str | None:
    """Text of two or four bytes a letter: by its mark, or where every other byte of mostly Latin text is zero."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    head = data[:4096]
    half = len(head) // 2
    is_wide = [head[start::2].count(0) > half * 0.7 for start in (0, 1)]
    if half < 8 or len(data) % 2 or is_wide[0] == is_wide[1]:
        return None
    return data.decode("utf-16-be" if is_wide[0] else "utf-16-le", "replace")


def _guessed(data: bytes) -> str:
    """Text in the encoding it names, else UTF-8 with some damage, else Windows' Latin or, by statistics, another."""
    declared = _DECLARED.search(data[:2048])
    try:
        codec = codecs.lookup(declared[1].decode()).name if declared else ""
        if _ALPHABET.fullmatch(codec):
            return data.decode(codec)
    except (LookupError, UnicodeError):
        pass
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") * 4 < len(text) - len(text.encode("ascii", "ignore")):
        return text
    best = None
    if sum(byte > 127 for byte in data[:20000]) > len(data[:20000]) // 4:
        try:
            from charset_normalizer import from_bytes
        except ImportError:
            pass
        else:
            best = from_bytes(data[:20000], cp_isolation=list(_ALPHABETS)).best()
    return data.decode(best.encoding if best else "cp1252", "replace")


_ALPHABETS = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256")


def clean(text: str) -> str:
    """Drop control and invisible format characters (escape codes, direction overrides), and unify line ends."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\x1b" in unified:
        unified = _ESCAPE.sub("", unified)
    if unified.isascii():
        return unified.translate(_NO_CONTROL)
    bad = [c for c in set(unified) if c != "\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]
    return unified.translate({ord(c): _LINE_ENDS.get(c) for c in bad}) if bad != ["\n"] else unified


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Fields at the top: between lines of `---` or, as TOML, of `+++`, or a JSON object, as Hugo has them.

    A text that only starts with a rule keeps it as its own.
    """
    if text.startswith(("+++", "{")):
        return _machine_written(text)
    if not text.startswith("---"):
        return {}, text
    lines = text.split("\n")
    fields: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines[1:60], start=1):
        if line.strip() in ("---", "..."):
            return fields, "\n".join(lines[number + 1 :])
        match = _FIELD.fullmatch(line.strip())
        item = line.strip().removeprefix("- ") if line.startswith((" ", "-")) else ""
        if match and not line.startswith((" ", "-")):
            name = match[1].lower()
            fields[name] = match[2].strip().strip("\"'")
        elif item and name:
            fields[name] = f"{fields[name]}\n{item}".strip()  # a list or a nested field, one entry a line
        elif line.strip() and not line.startswith("#"):
            break
    return {}, text


def _machine_written(text: str) -> tuple[dict[str, str], str]:
    import tomllib

    fields: dict[str, str] = {}
    rest = ""
    try:
        match = _TOML.match(text[:MOST_FIELDS])
        if match:
            made, end = tomllib.loads(match[1]), match.end()
        else:
            made, end = json.JSONDecoder().raw_decode(text[:MOST_FIELDS])
        rest = text[end:].lstrip()
        for name, value in made.items():
            fields[name.lower()] = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    except (ValueError, RecursionError):
        return {}, text
    is_data = not rest or rest.startswith("{")  # a file of nothing else, or of an object a line
    return ({}, text) if is_data else (fields, rest)


def _first_heading(body: str) -> str:
    """The first title outside of code: marked, underlined, or as READMEs write it in HTML."""
    titles = (match[2] or match[3] or match[4] for match in _TITLE.finditer(body))
    return re.sub(r"<[^<>]*>", "", next(filter(None, titles), "")).strip(" #")


def _names(text: str) -> list[str]:
    return [name for name in (part.strip("\"'") for part in re.split(r"[,\[\]\s]+", storable(text))) if name]


def _phrases(text: str) -> list[str]:
    """The entries of a list, in brackets or a line each."""
    lines = text.strip("[]").split(",") if text.startswith("[") else text.split("\n")
    return [phrase for phrase in (_one_line(line).strip(" \"'") for line in lines) if phrase]


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())[:300]


def storable(text: str) -> str:
    """Text of a path or an argument whose bytes may be no UTF-8, without what cannot be written."""
    return text.encode("utf-8", "backslashreplace").decode()
