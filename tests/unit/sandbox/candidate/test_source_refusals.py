"""Words that a candidate may not use, by line."""

from __future__ import annotations

from sandbox.candidate.source_refusals import MOST, source_refusals
from tests.support.lab_bench import HEAD, build, launch

PLAIN = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n'


def test_a_name_of_the_judges_is_refused_at_its_line_before_anything_is_built() -> None:
    asking = HEAD + "#ifdef KS_PROBES\n#endif\n" + PLAIN
    (finding,) = build(asking, [launch("k", ["x"])])
    assert (finding.kind, finding.line) == ("compile_error", 2) and "belongs to the judge" in finding.message


def test_other_line_numbers_and_what_has_no_end_are_refused() -> None:
    assert [f.line for f in source_refusals('int a;\n#line 7\n# 8 "x"\n/* no end')] == [2, 3, 4]


def test_words_in_texts_and_comments_are_not() -> None:
    assert source_refusals(HEAD + PLAIN + '// ks_lab #line\nconst char* text = "KS_LAB";\n') == ()


def test_a_text_of_nothing_else_is_told_in_part() -> None:
    assert len(source_refusals("ks_a " * 1000)) == MOST
