"""The scanner of preprocessing tokens: every form of C++20, clang's own answer, and linear work on any text."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sandbox.candidate.pp_tokens import scan
from sandbox.process import ProcessLimits, run
from tests.support.few import few
from tests.support.lab_bench import toolchain

_RAW = re.compile(r"^(\w+) '(.*?)'\t.*?Loc=<[^:>]+:(\d+):(\d+)>$", re.S | re.M)
TEXT = r"""#include <a//b> // x
%:define A 1'000 + 0x1p-3'f
R"x(a
# 1 "f"
)x"_s u8R"(q\
)" L'a\'' "a\"b"_sv as\
m __as\u006d__ x<::y> <:0:> <::> a<=>b ...
#if __has_include(</*>)
#endif
.5e+3 'c' u8'd' don_t $x é /* " */ ->* ## %:%: <% %>
"""


def test_every_form_is_one_token() -> None:
    texts = [token.text for token in scan(TEXT) if token.kind != "end"]
    assert texts == [
        *("#", "include", "<a//b>", "#", "define", "A", "1'000", "+", "0x1p-3'f"),
        *('R"x(a\n# 1 "f"\n)x"_s', 'u8R"(q\\\n)"', "L'a\\''", '"a\\"b"_sv', "asm", "__asm__"),
        *("x", "<", "::", "y", ">", "[", "0", "]", "[", "]", "a", "<=>", "b", "..."),
        *("#", "if", "__has_include", "(", "</*>", ")", "#", "endif"),
        *(".5e+3", "'c'", "u8'd'", "don_t", "$x", "é", "->*", "##", "##", "{", "}"),
    ]


def test_a_code_in_a_name_has_its_digits_and_no_more() -> None:
    assert [token.text for token in scan(r"inclu\u0064e \U00000061bc d\u{e9}ef")] == ["include", "abc", "déef"]


def test_a_token_knows_its_place_in_the_text() -> None:
    for token in scan(TEXT):
        assert token.line == 1 + TEXT.count("\n", 0, token.start)
        if "\\" not in TEXT[token.start : token.end] and token.text not in "[]{}##":
            assert TEXT[token.start : token.end] == token.text


@pytest.mark.parametrize("text", ["/* no end", 'R"x( no end )y"', "a /*/ b", 'int x = R"(\n'])
def test_what_has_no_end_is_the_last_token(text: str) -> None:
    assert scan(text)[-1].kind == "open" and scan(text)[-1].end == len(text)


def test_a_quotation_without_an_end_ends_with_its_line() -> None:
    assert [token.text for token in scan("don't /* x\nasm")] == ["don", "'t /* x", "\n", "asm"]


GROWING: dict[str, Callable[[int], str]] = {
    "escapes": lambda n: '"' + '\\"' * n,
    "stars": lambda n: "/*" + "*" * n,
    "raw strings without an end": lambda n: 'R"a(' * n,
    "raw strings with splices": lambda n: 'R"(\\\n)" \\\n' * n,
    "splices": lambda n: "\\\n" * n,
    "quotes": lambda n: "'" * n,
    "backslashes and spaces": lambda n: ("\\" + " " * 40) * n,
    "separators": lambda n: "1'" * n,
    "comments": lambda n: "/*/" * n,
    "named characters": lambda n: "\\N{" * n,
    "lines": lambda n: "a\n" * n,
    "directives": lambda n: "#include <" * n,
}


def _steps(act: Callable[[], object]) -> int:
    """Lines of Python executed, and characters are what the tokens' number bounds."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", GROWING)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    grow = GROWING[name]
    once, twice = (_steps(lambda n=n: scan(grow(n))) for n in (1000, 2000))  # type: ignore[misc]
    assert twice <= 2.2 * once + 200


@pytest.mark.slow
@pytest.mark.parametrize("name", few(GROWING, 4))
def test_a_megabyte_of_it_ends(name: str) -> None:
    text = GROWING[name](1)
    assert name == "splices" or scan((GROWING[name](1 + (1 << 18) // len(text)))[: 1 << 18])


def test_random_texts_are_covered_without_gaps() -> None:
    rng, parts = (
        random.Random(3),
        ['R"', "(", ")", '"', "'", "\\", "\n", "/*", "*/", "//", "a", "1", "#", "u8", " ", "<", ":"],
    )
    for _ in range(2000):
        text = "".join(rng.choices(parts, k=rng.randrange(60)))
        offset = 0
        for token in scan(text):
            assert offset <= token.start < token.end <= len(text)
            offset = token.end


def test_clang_sees_the_same_tokens(tmp_path: Path) -> None:
    """At the same places, in our own headers and in every form above but names of headers."""
    tools = toolchain()
    texts = [
        TEXT.split("\n", 2)[2]
        .replace("#if __has_include(</*>)\n#endif\n", "")
        .replace("é", "e")
        .replace("006d", "00e9")
    ]
    texts += [path.read_text(encoding="ascii") for path in sorted(Path("sandbox/include/ks_lab").glob("*.h"))]
    for number, text in enumerate(texts):
        plain = "\n".join("" if line.startswith("#include") else line for line in text.split("\n"))
        (tmp_path / f"{number}.cpp").write_text(plain, encoding="ascii")
        options = ("-x", "c++", "-std=c++20", "-fsyntax-only", "-Xclang", "-dump-raw-tokens", f"{number}.cpp")
        argv = tools.command("clang", *options)
        limits = ProcessLimits()
        completed = run(argv, cwd=tmp_path, env=tools.environment(), timeout_s=60, limits=limits, output_cap=64 << 20)
        theirs = [
            (int(row[3]), int(row[4]))
            for row in _RAW.finditer(completed.stderr)
            if row[1] not in ("comment", "eof") and not (row[1] == "unknown" and row[2].isspace())
        ]
        starts = [0, *(offset + 1 for offset, character in enumerate(plain) if character == "\n")]
        ours = [(token.line, token.start - starts[token.line - 1] + 1) for token in scan(plain) if token.kind != "end"]
        assert ours == theirs and ours
