from __future__ import annotations

from sandbox.amdgcn.annotation import annotate

LISTING = """\t.file\t1 "." "candidate.hip"
\t.file\t2 "/include/hip" "warp_functions.h"
\t.type\tk,@function
k:
\t.loc\t1 10 3
\tv_mov_b32_e32 v0, 0 ; a remark
.LBB0_1:
\t.loc\t1 12 5
\tglobal_load_dword  v2, v[0:1], off
.LBB0_2:
\t.loc\t2 99 5
\tds_bpermute_b32 v3, v1, v2
\t.loc\t1 0 0
\ts_cbranch_scc1 .LBB0_2
\ts_cbranch_scc0 .LBB0_1
\ts_branch .LBB0_4
.LBB0_4:
\ts_endpgm
\t.section\t.rodata
\t.type\tother,@function
other:
\ts_endpgm
"""


def test_every_instruction_has_its_line_class_label_and_loops() -> None:
    rows = annotate(LISTING, "candidate.hip")["k"]
    assert [(r.line, r.text, r.group, r.label, r.depth) for r in rows] == [
        (10, "v_mov_b32_e32 v0, 0", "valu", "", 0),
        (12, "global_load_dword v2, v[0:1], off", "vmem", ".LBB0_1", 1),
        (12, "ds_bpermute_b32 v3, v1, v2", "lds", ".LBB0_2", 2),  # from a header: the line that called it
        (12, "s_cbranch_scc1 .LBB0_2", "branch", "", 2),
        (12, "s_cbranch_scc0 .LBB0_1", "branch", "", 1),
        (12, "s_branch .LBB0_4", "branch", "", 0),
        (12, "s_endpgm", "branch", ".LBB0_4", 0),
    ]


def test_functions_are_apart_and_lines_do_not_leak() -> None:
    assert [(r.line, r.text) for r in annotate(LISTING, "candidate.hip")["other"]] == [(0, "s_endpgm")]
