from __future__ import annotations

import pytest

from sandbox.machine.listing_reader import read_listing
from sandbox.machine.unreadable import UnreadableListing


def texts(listing: str) -> list[str]:
    return [instruction.text for instruction in read_listing(listing).instructions]


def test_comments_of_every_form_are_left() -> None:
    listing = """/* a
   plan; .frob */ k: s_nop 0 // one
 s_nop 1 /* two */ ; three /* not opened
\ts_nop 2 ;;#ASMSTART
\ts_nop /* four */ 3
# 1 "candidate.hip"
"""
    assert texts(listing) == ["s_nop 0", "s_nop 1", "s_nop 2", "s_nop 3"]
    assert read_listing(listing).labels == {"k": 0}


def test_a_string_holds_no_comment() -> None:
    read = read_listing('\t.data\nx:\n\t.asciz "/* ; //"\ny:\n')
    assert (bytes(read.sections[".data"].content), read.data_labels["y"]) == (b"/* ; //\0", (".data", 8))


def test_wave_barriers_are_instructions_where_they_stand_in_code() -> None:
    assert texts("\ts_nop 0\n\t; wave barrier\n\t.data\n\t; wave barrier\n") == ["s_nop 0", "wave_barrier"]


def test_release_fences_of_the_source_are_instructions() -> None:
    assert texts("\ts_nop 0\n\t;;#ASMSTART\n\t; release fence\n\t;;#ASMEND\n") == ["s_nop 0", "release_fence"]


def test_sections_are_told_apart_by_flags_and_by_name() -> None:
    read = read_listing(
        '\t.section .text.f,"axG",@progbits,f,comdat\nf:\n\ts_nop 0\n'
        '\t.section .rodata.cst8,"aM",@progbits,8\na:\n\t.quad 5\n'
        "\t.section .bss.x\nb:\n\t.zero 8\n"
        '\t.section ".note.GNU-stack","",@progbits\nc:\n\t.byte 3\n'
        "\t.comm d,12,8\n"
    )
    assert (read.labels, sorted(read.data_labels)) == ({"f": 0}, ["a", "b", "d"])
    assert {name: s.is_writable for name, s in read.sections.items()} == {
        ".rodata.cst8": False,
        ".bss.x": True,
        ".bss": True,
    }


def test_assignments_may_stand_anywhere() -> None:
    read = read_listing("n = 4 ; four\n\tm = n*2\n.set k, m+1\n\ts_nop 0\n")
    assert read.assignments == {"n": "4", "m": "n*2", "k": "m+1"}
    assert len(read.instructions) == 1


@pytest.mark.parametrize(
    "listing",
    [
        "\t.text\n\t.macro x\n",
        '\t.incbin "/etc/passwd"\n',
        "\t.data\n\ts_nop 0\n",
        "k:\nk:\n",
        "\t/* never closed\n",
        "\t.amdhsa_kernel k\n",
        "\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\n\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\n",
        "\t.loc 1\n",
        "\t.data\n\t.float 1e99x\n",
        '\t.data\n\t.ascii "\\q"\n',
        "\t.data\n\t.balign 3\n",
        "\t.data\n\t.fill 3, 99, 0\n",
        "\t?\n",
        "\t.rept 5\n",
    ],
)
def test_what_is_unknown_is_refused_with_its_line(listing: str) -> None:
    with pytest.raises(UnreadableListing):
        read_listing(listing)


def test_time_is_linear_in_lines_that_are_hard_to_read() -> None:
    for line in ('"' * 20000, "(" * 20000, ", " * 20000, "/*" * 20000, "a:" * 500, "\t.long " + "1," * 2000 + "1"):
        try:
            read_listing("\t.data\n" + (line + "\n") * 20)
        except UnreadableListing:
            continue


def test_a_listing_of_more_than_sixteen_mebibytes_is_refused() -> None:
    with pytest.raises(UnreadableListing, match="16 MiB"):
        read_listing("\n" * ((16 << 20) + 1))
