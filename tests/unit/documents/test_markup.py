from __future__ import annotations

from documents.markup import fence, from_html, from_markdown, from_rst
from knowledge.chunks import cut


def test_titles_of_restructured_text_have_levels_by_their_order() -> None:
    text = """
.. meta::
   :description: words nobody reads

.. _target:

****************
Programming
****************

Text with :cpp:func:`hipMalloc` and `a page <https://amd.example>`_ and ``literal``.

Memory
======

More.

Deep ###
^^^^^^^^

Deeper. Run it like this::

    hipcc  a.hip
      -o a

.. code-block:: cpp
   :linenos:

   __global__ void f();

.. note:: Mind the step.

   It is high.

Other
=====

short
---
end
"""
    made = from_rst(text)
    headings = [line for line in made.split("\n") if line.startswith("#")]
    assert headings == ["# Programming", "## Memory", "### Deep ###", "## Other"]
    assert "Text with `hipMalloc` and a page and `literal`." in made
    assert "```\nhipcc  a.hip\n  -o a\n```" in made
    assert "```cpp\n__global__ void f();\n```" in made
    assert "Mind the step." in made and "It is high." in made
    assert "nobody reads" not in made and "_target" not in made


def test_a_table_of_restructured_text_is_no_heading() -> None:
    table = "Intro\n-----\n\n=====  =====\nname   value\n=====  =====\na      1\n=====  =====\n"
    assert [line for line in from_rst(table).split("\n") if line.startswith("#")] == ["# Intro"]


PAGE = """<!DOCTYPE html><html><head><title>HIP &amp; LDS</title><style>p {color: red}</style>
<body><nav><ul><li>Home</ul></nav><div role="search"><div>Find</div></div>
<main><h1>LDS<a class="headerlink">¶</a></h1><p>The LDS has
 32 banks.<p>Padding <b>helps</b>.</p><pre>int x;
  int y;</pre><table><tr><th>a</th><td>1</td></tr></table><ul><li>one<li>two</ul>
<h2>More</h2><p>%s</p></main><footer>Imprint</footer><script>if (a < b) alert("x")</script></body></html>"""


def test_the_main_text_of_a_page_is_kept_and_the_rest_is_not() -> None:
    title, body = from_html(PAGE % ("words " * 40))
    assert title == "HIP & LDS"
    assert body.startswith("# LDS\n\nThe LDS has 32 banks.\n\nPadding helps.\n\n```\nint x;\n  int y;\n```\n\na | 1")
    assert "- one\n\n- two" in body and "## More" in body
    assert not any(word in body for word in ("Home", "Find", "Imprint", "alert", "color"))
    assert [c.section for c in cut(title, body)] == ["LDS"]


def test_tables_of_sphinx_keep_their_rows_and_code_of_doxygen_its_lines() -> None:
    row = "<tr><td><p>__expf</p></td><td><p>2 ULP</p><ul><li>flushed</ul></td></tr><tr><td>next<p>after"
    assert from_html(f"<table>{row}</table><p>a</p><p>b")[1] == "__expf | 2 ULP\n\n- flushed\n\nnext after\n\na\n\nb"
    lines = "".join(
        f'<div class="line"><a id="l{n}"></a><span class="lineno"> {n}</span>{text}</div>%s'
        for n, text in enumerate(("<span>void</span> f()", "{ g&lt;1&gt;(); }"))
    )
    for between in ("", "\n"):
        page = f'<p>Use</p><div class="fragment">{lines % (between, between)}</div><!-- fragment --><p>it'
        assert from_html(page)[1] == "Use\n\n```\nvoid f()\n{ g<1>(); }\n```\n\nit"


def test_a_page_without_structure_is_still_read() -> None:
    assert from_html("<p>just <i>text</p> and more &lt;b&gt; <nav>gone")[1] == "just text\n\nand more <b>"
    assert from_html("<pre>a<br>b<div>  c</div></pre>")[1] == "```\na\nb\n  c\n```"
    assert from_html("<div>" * 50_000 + "deep")[1] == "deep"


def test_a_fence_is_longer_than_those_inside() -> None:
    assert fence("a\n```\nb", "c") == "````c\na\n```\nb\n````"


def test_the_title_is_the_page_s_own_and_not_a_comment_s_or_a_picture_s() -> None:
    head = "<!-- <title>old</title> --><script>'<title>none</title>'</script><head>%s</head>"
    body = "<body><svg><title>an arrow</title></svg><p>waves</p></body>"
    title, text = from_html(head % "<title>Waves &lt; 64</title><title>again</title>" + body)
    assert title == "Waves < 64" and "arrow" not in text and "waves" in text
    assert from_html(head % "" + body)[0] == ""


def test_a_short_title_has_a_short_underline_and_options_are_no_text() -> None:
    text = "Q8\n==\n\n.. list-table:: Sizes\n   :header-rows: 1\n   :class: wide\n\n   * - LDS\n\nas\n::\n\n  x\n"
    made = from_rst(text)
    assert made.startswith("\n# Q8\n") and "Sizes" in made and "* - LDS" in made
    assert "header-rows" not in made and "wide" not in made and "# as" not in made


def test_markdown_of_sphinx_loses_its_marks_and_keeps_what_they_hold() -> None:
    text = (
        "(lds-banks)=\n# Banks\n\n::::{tab-set}\n:::{tab-item} ROCm 6\n:sync: six\n\nPad the tile.\n:::\n::::\n\n"
        "```{list-table}\n:header-rows: 1\n:name: t\n\n* - a\n```\n\n:field: stays\nf(x)=\n"
    )
    made = from_markdown(text)
    kept = "# Banks ROCm 6 Pad the tile. ```{list-table} * - a ``` :field: stays f(x)="
    assert " ".join(made.split()) == kept
    for other in (":field: stays\n", 'asm("s_nop 0"\n    ::: "memory");\n'):
        assert from_markdown(other) == other
