from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.gpu.compile.dialect import dialect_of, spell
from sandbox.gpu.compile.includes import refusals
from tests.support.few import few

ROOT = Path(__file__).parents[5]
KNOWN = frozenset({"hip/hip_runtime.h"})
SECRET = "/etc/passwd"
READS = {
    "a path in quotes": f'#include "{SECRET}"',
    "a path in brackets": f"# include <{SECRET}>",
    "a digraph": f'%:include "{SECRET}"',
    "a name over two lines": f'#inc\\\nlude "{SECRET}"',
    "a computed name": f'#define X "{SECRET}"\n#include X',
    "comments between": f'/* c */ # /* d */ include /* e */ "{SECRET}"',
    "a way up": "#include <hip/../../../etc/passwd>",
    "two names": f'#include <hip/hip_runtime.h> "{SECRET}"',
    "include_next": "#include_next <hip/hip_runtime.h>",
    "import": f'#import "{SECRET}"',
    "embed": f'int a[] = {{\n#embed "{SECRET}"\n}};',
    "a module": f"import <{SECRET}>;",
    "a line directive": f'#line 3 "{SECRET}"',
    "a line marker": f'# 1 "{SECRET}"',
    "has_include of quotes": f'#if __has_include("{SECRET}")\n#endif',
    "has_include of a path": f"#if __has_include(<{SECRET}>)\n#endif",
    "has_include of a way up": "#if __has_include(<a/../../etc/passwd>)\n#endif",
    "has_include of a macro": "#if __has_include(X)\n#endif",
    "has_include under a name": f"#define H __has_include\n#if H(<{SECRET}>)\n#endif",
    "has_include in elif": f'#ifdef X\n#elif __has_include("{SECRET}")\n#endif',
    "has_embed": f'#if 1 && __has_embed("{SECRET}")\n#endif',
    "a pragma": f'#pragma GCC dependency "{SECRET}"',
    "a pragma operator": f'_Pragma("GCC dependency \\"{SECRET}\\"")',
    "a pragma made by a macro": f'#define P(x) _Pragma(#x)\n\n{"int x;" * 60}\nP(GCC dependency "{SECRET}")',
    "a pragma in a raw string": f'_Pragma(R"(GCC dependency "{SECRET}")")',
    "an exported import": f"export import <{SECRET}>;",
    "a name by its codes": f'#inclu\\u0064e_next "{SECRET}"',
    "behind a raw string whose mark is none": f'const char* s = R"a b(\n)a b";\n#include "{SECRET}"',
    "behind a quotation without an end": f'#if 0\n"\n#endif\n#include "{SECRET}"',
    "has_include of a computed name": f"#define X <{SECRET}>\n#if __has_include X\n#endif",
    "behind a raw string": f'const char* s = R"(\n#endif\n#include "{SECRET}"\n)";',
    "behind a raw string with a splice": f'R"a(\\\n)a" /*)a"\n#include "{SECRET}"\n/* */',
    "behind a splice with a space": f'// x \\ \n#include "{SECRET}"',
    "a trigraph": f'??=include "{SECRET}"',
    "behind an apostrophe": f'#if 0\ndon\'t /*\n#endif\n#include "{SECRET}"\n/* */',
    "behind an open comment": f'/* \\*\n/ x\n#include "{SECRET}"',
    "behind an open raw string": f'R"x( )y"\n#include "{SECRET}"',
    "behind a carriage return": f'// x\r#include "{SECRET}"',
}
ASSEMBLES = {
    "incbin": f'asm(".incbin \\"{SECRET}\\"");',
    "behind colons": f'asm("s_nop 0" :: "s"(0)); asm(".incbin \\"{SECRET}\\"");',
    "over a directive": f'asm(\n#if 1\n".incbin \\"{SECRET}\\""\n#endif\n);',
    "in two strings": f'asm(".inc" "bin \\"{SECRET}\\"");',
    "with an escape": f'asm("\\x2eincbin \\"{SECRET}\\"");',
    "with an octal escape": f'asm("\\056incbin \\"{SECRET}\\"");',
    "raw": 'asm volatile(R"(.include "x")");',
    "of a macro": "#define S(x) #x\nasm(S(.align 4));",
    "under a name": '#define A asm\nA("s_nop 0");',
    "by a macro of the assembler": 'asm(".macro m\\n.endm");',
}
HONEST = {
    "an include": "#include <hip/hip_runtime.h>",
    "spaces and a comment": "  #  include <hip/hip_runtime.h> // comment",
    "quotes": '#include "hip/hip_runtime.h" /* x */',
    "in a line comment": f'// #include "{SECRET}"',
    "in a block comment": f'/*\n#include "{SECRET}"\n*/',
    "in a spliced comment": f'// x \\\n#include "{SECRET}"',
    "in a string": f'const char* s = "#include \\"{SECRET}\\"";',
    "a wait": 'asm volatile("s_waitcnt vmcnt(0)" ::: "memory");',
    "operands": 'asm volatile("v_add_f32 %0, %1, %2\\n\\t" : "=v"(a) : "v"(b), "v"(c));',
    "a question": "#ifdef __has_include\n#if __has_include(<hip/hip_fp8.h>)\n#endif\n#endif",
    "a pragma of a macro": "#define P(x) _Pragma(#x)\nP(unroll 4) for (;;) {}",
    "a pragma operator": '_Pragma("unroll 4") for (;;) { int module = 3; }',
    "names like prefixes": 'int R = 1; const char* s = u8"x";',
    "digit separators and quotes": "int a = 1'000'000; char c = '\"', d = '\\'';",
    "pasting and continuing": "#pragma once\n#pragma unroll\n#define F(x) x ## 3 \\\n  + 1\n",
    "a raw string": 'const char* s = R"x(a "quoted" text)x";',
}


@pytest.mark.parametrize("name", READS)
def test_what_would_read_another_file_is_refused(name: str) -> None:
    findings = refusals(READS[name], KNOWN, assembler_reads=False)
    assert findings and all(f.kind == "compile_error" and f.line and f.message for f in findings)


@pytest.mark.parametrize("name", ASSEMBLES)
def test_assembly_that_would_read_a_file_is_refused_where_the_assembler_can(name: str) -> None:
    assert refusals(ASSEMBLES[name], KNOWN, assembler_reads=True)
    assert not refusals(ASSEMBLES[name], KNOWN, assembler_reads=False)


@pytest.mark.parametrize("name", HONEST)
def test_what_reads_nothing_else_is_not_refused(name: str) -> None:
    assert refusals(HONEST[name], KNOWN, assembler_reads=True) == ()


def test_the_line_is_the_sources_own() -> None:
    source = '/* one\ntwo */ int a \\\n = 3;\nconst char* s = R"(\nx)";\n#include "secret"\n'
    (finding,) = refusals(source, KNOWN, assembler_reads=True)
    assert finding.line == 6
    assert "'secret' may not be included" in finding.message


@pytest.mark.parametrize(("kind", "reads"), [("nvrtc", False), ("nvcc", False), ("hiprtc", True), ("hipcc", True)])
def test_no_kernel_of_ours_is_refused(kind: str, reads: bool) -> None:
    files = [*ROOT.glob("tasks/*/*.hip"), *ROOT.glob("benchmarks/kernels/*.hip"), *ROOT.glob("examples/**/*.hip")]
    assert len(files) > 20
    for path in files:
        assert refusals(path.read_text(encoding="utf-8"), dialect_of(kind).includable, reads) == (), path


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    few(
        [
            "/*",
            'R"x(',
            '"\\',
            "'\\",
            "#pragma x\n",
            "#include <hip/hip_runtime.h>\n",
            "asm(",
            "typedef a ",
            "%:%:",
            "( ' '",
            "__has_include",
            "\\\n",
            "typedef " + " " * 50,
        ],
        2,
    ),
)
def test_text_that_goes_on_and_on_is_read_in_one_go(text: str) -> None:
    """Half a megabyte: what looks ahead to the end from every place would take hours."""
    source = text * (500_000 // len(text))
    assert len(refusals(source, KNOWN, assembler_reads=True)) <= 20
    assert len(spell("nvcc", source)) == len(source)
    assert len(spell("hiprtc", source)) <= len(source)


def test_many_directives_are_read_in_one_go() -> None:
    source = "#define A 1\n#pragma unroll\nint x; /* c */\n" * 3_000
    assert refusals(source, KNOWN, assembler_reads=True) == ()
    assert len(refusals('#include "a"\n' * 1000, KNOWN, assembler_reads=True)) == 20
