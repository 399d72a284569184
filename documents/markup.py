"""reStructuredText, HTML, Jupyter notebooks and Sphinx's Markdown to plain Markdown.

Headings by their level, code in fences, nothing that is only for the eye.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from records.errors import DocumentError

PRINTED = 2000  # characters of what a notebook's code printed that are kept

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1+")
_OPTION = re.compile(r"\s+:[\w-]+:(?:\s|$)")
_DIRECTIVE = re.compile(r"( *)\.\. (?:[\w|-]+ )?([\w:+-]+)::(.*)")
_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`<]*[^`<\s])\s*(?:<[^>`]*>)?`")  # linear in the longest of lines
_LINK = re.compile(r"`([^`<]*[^`<\s])\s*<[^>`]+>`__?")
_HIDDEN = ("meta", "toctree", "contents", "image", "figure", "raw", "only", "include", "highlight", "grid", "index")
_CODE = ("code-block", "code", "sourcecode", "parsed-literal", "prompt", "highlight")
_MYST = (":::", "```{", ")=\n")  # what is in every text that the two patterns below find anything in
_MYST_OPTIONS = re.compile(r"^([ \t]*(?:`{3,}|:{3,}[ \t]*)\{.*\n)(?:[ \t]*:[\w-]+:.*\n)+", re.MULTILINE)
_MYST_MARKS = re.compile(r"^(?:[ \t]*:{3,}[ \t]*(?:\{[\w:+-]+\}[ \t]*|$)|\([\w-]+\)=$)", re.MULTILINE)


def from_markdown(text: str) -> str:
    """Return the text without the options, labels and colon fences of MyST, which Sphinx reads."""
    if not any(mark in text for mark in _MYST):
        return text
    return _MYST_MARKS.sub("", _MYST_OPTIONS.sub(r"\1", text))


def from_rst(text: str) -> str:
    """Markdown: any underline is a heading, with or without an overline, its level by the order of first use."""
    lines = text.split("\n")
    levels: list[str] = []
    out: list[str] = []
    index = 0
    while index < len(lines):
        title, style, line_count = _title(lines, index)
        if line_count:
            if style not in levels:
                levels.append(style)
            out += ["", "#" * min(levels.index(style) + 1, 6) + " " + _inline(title), ""]
            index += line_count
            continue
        directive = _DIRECTIVE.fullmatch(lines[index])
        if directive:
            index = _directive(lines, index, directive, out)
        elif re.fullmatch(r"\s*\.\. (_|\[|\||(?![\w|-]+::)).*|\s*\.\.", lines[index]):
            index = _block_end(
                lines, index + 1, len(lines[index]) - len(lines[index].lstrip())
            )  # targets, notes to oneself
        elif lines[index].rstrip().endswith("::") and not lines[index].lstrip().startswith(".."):
            out += [_inline(lines[index].rstrip()[:-1]), ""]
            index = _fenced(lines, index + 1, len(lines[index]) - len(lines[index].lstrip()), "", out)
        else:
            out.append(_inline(lines[index]))
            index += 1
    return "\n".join(out)


def _title(lines: list[str], index: int) -> tuple[str, str, int]:
    """Find the title that begins at a line, its style, and the lines it takes; 0 where none begins."""
    below = lines[index + 1].rstrip() if index + 1 < len(lines) else ""
    third = lines[index + 2].rstrip() if index + 2 < len(lines) else ""
    line = lines[index].rstrip()
    if _RULE.fullmatch(line) and below.strip() and third == line and not _RULE.fullmatch(below.strip()):
        return below.strip(), f"{line[0]}over", 3
    is_text = bool(line) and not line[0].isspace() and not _RULE.fullmatch(line)
    is_apart = index == 0 or not lines[index - 1].strip() or len(below) >= len(line)
    is_under = bool(_UNDERLINE.fullmatch(below)) and below not in ("::", "..") and len(below) >= min(len(line), 4)
    if is_text and is_under and is_apart:
        return line, below[0], 2
    return "", "", 0


def _directive(lines: list[str], index: int, match: re.Match[str], out: list[str]) -> int:
    """Write what a directive holds; the line behind it."""
    indent, name, argument = len(match[1]), match[2].lower(), match[3].strip()
    if name in _CODE:
        return _fenced(lines, index + 1, indent, argument, out)
    if name in _HIDDEN:
        return _block_end(lines, index + 1, indent)
    if argument:
        out += ["", _inline(argument)]
    index += 1
    while index < len(lines) and _OPTION.match(lines[index]):
        index += 1
    return index  # its body is text like any other


def _fenced(lines: list[str], index: int, indent: int, language: str, out: list[str]) -> int:
    end = _block_end(lines, index, indent)
    body = [line for line in lines[index:end] if not re.match(r"\s+:[\w-]+:", line)]
    while body and not body[0].strip():
        body.pop(0)
    if any(line.strip() for line in body):
        margin = min(len(line) - len(line.lstrip()) for line in body if line.strip())
        out += ["", fence("\n".join(line[margin:] for line in body).rstrip(), language), ""]
    return end


def _block_end(lines: list[str], index: int, indent: int) -> int:
    """Find the first line from `index` on that is not blank and not further in."""
    while index < len(lines) and (not lines[index].strip() or len(lines[index]) - len(lines[index].lstrip()) > indent):
        index += 1
    return index


def _inline(line: str) -> str:
    if "`" not in line:
        return line
    return _LINK.sub(r"\1", _ROLE.sub(r"`\1`", line)).replace("``", "`")


def fence(code: str, language: str = "") -> str:
    """Code between fences that are longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{code}\n{mark}"


_WORDS = str.split
_BLOCKS = frozenset(
    _WORDS("p div section article main ul ol table tr blockquote dl dt dd figure figcaption details summary br hr li")
    + _WORDS("pre h1 h2 h3 h4 h5 h6")
)
_DROPPED = frozenset(
    _WORDS("title script style noscript svg nav header footer aside form button template iframe select")
)
_FURNITURE = frozenset(_WORDS("navigation search banner contentinfo lineno linenos headerlink"))  # roles and classes
_VOID = frozenset(_WORDS("br hr img input meta link area base col embed source track wbr"))


class _Page(HTMLParser):
    """Text by blocks; what lies in navigation, scripts and forms is dropped."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title, self._is_titled = "", False  # the first one of the page itself: pictures have titles too
        self.blocks: list[tuple[bool, str]] = []  # whether it lies in <main> or <article>, and its Markdown
        self._dropped: list[str] = []  # open tags of what is dropped, and of code: like ones may lie in one another
        self._code: list[str] = []
        self._depth = 0  # of main
        self._block = ""  # the tag that began the line
        self._in_cell = False
        self._line: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        role, classes = about.get("role") or "", (about.get("class") or "").split()
        if self._dropped or tag in _DROPPED or not _FURNITURE.isdisjoint([role, *classes]):
            if tag not in _VOID and (not self._dropped or tag == self._dropped[-1]):
                self._dropped.append(tag)
            return
        if self._code:
            is_new_line = tag == "br" or (tag == "div" and not "".join(self._line[-1:]).endswith("\n"))
            self._line += ["\n"] * is_new_line
            self._code += [tag] * (tag == self._code[-1])
            return
        is_main = tag in ("main", "article") or role == "main"
        is_code = tag == "pre" or "fragment" in classes  # the latter is Doxygen's
        if is_main or is_code or (tag in _BLOCKS and not (tag == "p" and self._in_cell)):
            self.end_block(tag)
        elif tag in ("td", "th", "p"):
            self._line.append(" " if tag == "p" else " | ")
        self._in_cell = tag in ("td", "th") or (self._in_cell and tag not in ("tr", "table"))
        self._code += [tag] * is_code
        self._depth += is_main

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
                self._is_titled = bool(self.title)
            return
        self._in_cell = self._in_cell and tag not in ("td", "th", "tr", "table")
        if self._code and tag == self._code[-1]:
            if len(self._code) == 1:
                self.end_block()
            self._code.pop()
        elif not self._code and tag in _BLOCKS and not (tag == "p" and self._in_cell):
            self.end_block()
        self._depth -= tag in ("main", "article") and self._depth > 0

    def handle_data(self, data: str) -> None:
        if self._dropped == ["title"] and not self._is_titled:
            self.title += data
        elif not self._dropped:
            self._line.append(data if self._code else re.sub(r"\s+", " ", data))

    def end_block(self, begun: str = "") -> None:
        """Write the block that ends here; what `begun` says of the next one is its tag."""
        text, self._line = "".join(self._line), []
        block, self._block = self._block, begun
        if self._code:
            text = text.strip("\n")
            markdown = fence(text) if text.strip() else ""
        elif re.fullmatch("h[1-6]", block):
            text = " ".join(text.strip(" |¶#\n").split())
            markdown = text and "#" * int(block[1]) + " " + text
        else:
            text = re.sub(" {2,}", " ", text).strip(" |\n")
            markdown = text and "- " * (block == "li") + text
        if markdown:
            self.blocks.append((self._depth > 0, markdown))


def from_html(text: str) -> tuple[str, str]:
    """Return the page's title and its main text as Markdown.

    The main text is what lies in <main> or <article> where that says anything.
    """
    page = _Page()
    page.feed(text)
    page.close()
    page.end_block()
    main = "\n\n".join(block for is_main, block in page.blocks if is_main)
    all_text = "\n\n".join(block for _, block in page.blocks)
    return " ".join(page.title.split()), main if len(main) > 200 else all_text


def from_notebook(name: str, text: str) -> str:
    """Markdown of every cell: text, code and what it printed; DocumentError where the file is no notebook."""
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets") or [notebook]  # until version 3 a notebook had some
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        return "\n\n".join(part for cell in cells for part in _cell(cell) if part.strip())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise DocumentError(f"the document {name} is no notebook ({type(error).__name__})") from error


def _cell(cell: dict[str, Any]) -> list[str]:
    source = _joined(cell.get("source") or cell.get("input"))
    if cell.get("cell_type") != "code":
        return ["#" * min(int(cell.get("level") or 0), 6) + " " * ("level" in cell) + source]
    printed = "\n".join(_printed(output) for output in cell.get("outputs") or []).strip()[:PRINTED]
    return [fence(source, "python") if source.strip() else "", fence(printed, "text") if printed else ""]


def _printed(output: dict[str, Any]) -> str:
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue')}"
    return _joined(output.get("text") or (output.get("data") or {}).get("text/plain"))


def _joined(value: Any) -> str:
    return "".join(str(part) for part in value) if isinstance(value, list) else str(value or "")
