"""The page of a run: hostile text stays text, secrets are blotted out, and one style sheet is allowed."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from app.report import Extras, render, tell, write_report
from app.report.page import visible
from records.errors import LedgerError, UsageError

PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '" onfocus="alert(1)" autofocus="',
    "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe src=//evil.example></iframe>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>",
    "<!--<script>alert(1)//-->",
    "]]><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "{% include 'page.html.j2' %}",
    "{{ config.__class__.__mro__ }}",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example';</style>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<object data=//evil.example></object>",
    "<embed src=//evil.example>",
    "<video><source onerror=alert(1)></video>",
    "<form action=//evil.example><input name=x>",
    "<math href=javascript:alert(1)>",
    "<details ontoggle=alert(1) open>",
    "<body onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "\x00<script>alert(1)</script>",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "<ScRiPt>alert(1)</ScRiPt>",
    "<script/xss>alert(1)</script>",
    "<<script>alert(1);//<</script>",
    "<img src='x' onerror\n=\nalert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<x onclick=alert(1)>click",
    "\u202e<script>",
    "\u2066hidden\u2069",
    "</svg><script>alert(1)</script>",
    "<svg><use href='data:image/svg+xml,x#y'/></svg>",
    "<template><script>alert(1)</script></template>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "url(//evil.example)",
    "expression(alert(1))",
    "<table background=//evil.example>",
    "<input autofocus onfocus=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<isindex action=javascript:alert(1)>",
    "<button formaction=javascript:alert(1)>",
    "<audio src=//evil.example>",
    "<picture><source srcset=//evil.example>",
    "<portal src=//evil.example>",
    "`-alert(1)-`",
    "${alert(1)}",
    "\\x3cscript\\x3e",
    "%3Cscript%3E",
    '<p style="background:url(//evil.example)">',
)


FIELDS = tuple(
    [
        "task",
        "author",
        "config",
        "title",
        "description",
        "rubric",
        "device",
        "bound",
        "finding",
        "kernel",
        "case",
        "candidate",
        "tunable",
        "instruction",
        "verified",
        "message",
        "counter",
        "explanation",
        "report",
        "skipped",
        "critique",
        "reason",
        "strategy",
        "lesson",
        "role",
        "model",
    ]
)


SHOWN = sorted(set(FIELDS) - {"device", "candidate", "strategy"})  # the page has no place for these three


TAGS = set(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "footer",
        "article",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
        "dd",
        "div",
        "small",
        "strong",
        "span",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "details",
        "summary",
        "pre",
        "svg",
        "line",
        "text",
        "path",
        "circle",
        "rect",
        "g",
    ]
)


ATTRIBUTES = set(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "colspan",
        "aria-label",
        "aria-hidden",
        "role",
        "viewbox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "d",
        "text-anchor",
    ]
)


class Reader(HTMLParser):
    """Everything a browser would act on."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.policy = ""
        self.feed(page)
        self.text = "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        values = dict(attrs)
        if values.get("http-equiv"):
            self.policy = values["content"] or ""

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def page_of(notebook: Any, **extras: Any) -> str:
    return render(tell(notebook.ledger, notebook.artefacts, notebook.run.id, Extras(**extras)))


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), 10))
def test_hostile_text_in_any_field_is_only_text(notebook: Any, first: int) -> None:
    payload = " | ".join(PAYLOADS[first : first + 10])
    line = payload.replace("\n", " ")
    notebook.texts = lambda name: f"{name}:{payload}"
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, source=f"// seed:{line}\nint x;\n")
    notebook.attempt(1, 0, 10.0, seed.id, source=f"// best:{line}\nint x;\n")
    notebook.attempt(1, 1, None, seed.id, source=f"// bad\n// two:{line}\n")
    notebook.ledger.event(notebook.run.id, "literature", {"title": payload, "section": payload, "source": payload})
    notebook.call("c1", 0.25)
    notebook.ledger.finish(notebook.run.id, "done", payload)
    words = {"task_title": payload, "task_description": payload, "target_title": payload}
    reader = Reader(page_of(notebook, **words, environment={payload: payload}))
    assert reader.tags <= TAGS
    assert reader.attributes <= ATTRIBUTES
    text = _flat(reader.text)
    for name in (*SHOWN, "// best", "// seed", "// two"):
        assert _flat(f"{name}:{visible(payload)}") in text, name


def _flat(text: str) -> str:
    """Without white space, which a page may lay out as it likes, and underscores, which it shows as spaces."""
    return re.sub(r"[\s_]", "", text)


def test_the_policy_allows_this_style_sheet_and_nothing_else(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    page = page_of(notebook)
    css = page.split("<style>", 1)[1].split("</style>", 1)[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert Reader(page).policy == policy
    assert "url(" not in css
    assert "@import" not in css
    assert not re.search(r"(src|href|action|style)\s*=", page.replace(css, ""))


def test_secrets_and_home_are_blotted_out_wherever_they_stand(notebook: Any) -> None:
    canary = "sk-canary-0123456789abcdef"
    notebook.texts = lambda name: f"{name} {canary} /houses/ada/work/x.hip"
    notebook.start().attempt(0, 0, 20.0, source=f"// {canary}\n// /houses/ada/y\n")
    notebook.attempt(1, 0, None, "g000-e0-a0", source=f"// {canary}\nx\n")
    page = page_of(notebook, secrets=(canary,), home="/houses/ada", environment={"a": canary})
    assert canary not in page
    assert "/houses/ada" not in page
    assert "~/work/x.hip" in page


def test_the_rung_of_the_machine_that_judged_is_named(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    (row,) = story.rows
    assert "isolation of compiler" not in render(story)
    judged = replace(row, evaluation=replace(row.evaluation, isolation="namespaces"))
    page = render(replace(story, rows=[judged]))
    assert "isolation of compiler and kernels</td><td>namespaces</td>" in page


def test_hidden_characters_are_shown_as_code_points() -> None:
    assert visible("a\u202eb\x1b[0m") == "a⟨U+202E⟩b⟨U+001B⟩[0m"
    assert visible("ä\n\t×") == "ä\n\t×"


def test_an_unknown_run_and_an_unwritable_place_are_one_sentence(notebook: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        tell(notebook.ledger, notebook.artefacts, "nothing")
    notebook.start().attempt(0, 0, 20.0)
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        write_report(tell(notebook.ledger, notebook.artefacts, notebook.run.id), tmp_path / "file" / "report.html")


def test_the_page_is_written_whole_and_is_the_same_each_time(notebook: Any, tmp_path: Path) -> None:
    notebook.start().attempt(0, 0, 20.0)
    story = tell(notebook.ledger, notebook.artefacts, notebook.run.id)
    path = write_report(story, tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8") == render(story)
    assert list(path.parent.iterdir()) == [path]
