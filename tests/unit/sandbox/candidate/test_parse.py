from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.errors import PlanError
from sandbox.candidate.fit import check
from sandbox.candidate.kernel import KernelArgument, KernelMetadata
from sandbox.candidate.parse import normalise, parse
from tests.support.plans import BODY, PLAN, a_task, source
from tests.support.wrong_values import changed


def fault(plan: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        check(parse(source(plan)), a_task())
    return caught.value


def test_reads_every_field() -> None:
    candidate = parse(source())
    first, second = candidate.plan.launches
    assert (first.kernel, first.grid, first.block, first.lds) == (
        "sums",
        ("ceil_div(rows, ROWS)",),
        ("64 * ROWS",),
        "4 * ROWS",
    )
    assert first.args == ("x", "part", "rows", "cols:i64", "eps")
    assert (first.line, second.line, second.lds, second.block) == (2, 8, "0", ("64", "2", "1"))
    assert candidate.plan.workspaces[0].shape == ("rows", "4")
    assert candidate.defaults() == {"ROWS": 4}
    check(candidate, a_task())
    assert parse(source().replace('part = ["f32"', 'part = ["u32"')).plan.workspaces[0].dtype == "i32"


def test_the_id_ignores_line_ends_and_trailing_spaces_but_not_comments() -> None:
    same = {
        parse(s).id
        for s in (
            source(),
            source().replace("\n", "\r\n"),
            source() + "\n\n",
            "\ufeff" + source(),
            source().replace("\n", " \t\n"),
        )
    }
    assert len(same) == 1
    assert parse(source(body=BODY + "// another\n")).id not in same


@given(st.text(alphabet="ab/*\n\r \t", max_size=40))
def test_normalising_twice_changes_nothing_and_keeps_lines(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert not any(line.endswith((" ", "\t")) for line in once.split("\n"))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("__global__ void k() {}", "has no launch plan: it must start with the comment", 1),
        ("", "the file is empty; it must hold a launch plan", 1),
        ("\n \n", "the file is empty", 1),
        ("\n\n// hello\n/*+++\n+++*/", "has no launch plan", 3),
        ("```hip\n/*+++\n+++*/\n```", "starts with a Markdown fence", 1),
        ("/*+++\n[[launch]]\n", "is not closed", 1),
        ("/*+++\n[[launch]\n+++*/", "is not valid TOML", 2),
        ("/*+++\n[[launch]]\ngrid = [\n+++*/", "is not valid TOML", 3),
        ("/*+++\nx = " + "[" * 5000 + "\n+++*/", "nested too deeply", 1),
        ("/*+++\n+++*/\n\0", "is not plain UTF-8", 1),
        ("/*+++\n+++*/\n" + "x" * 1_100_000, "larger than 1048576 bytes", 1),
    ],
)
def test_refuses_files_without_a_readable_plan(text: str, message: str, line: int) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        parse(text)
    assert caught.value.line == line
    assert caught.value.fault == ("content" if len(text) > 1_000_000 else "form")


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('kernel = "sums"', 'kernel = "a b"', "launch 1: kernel must be the name", 3),
        ('kernel = "sums"\n', "", "launch 1 lacks 'kernel'", 2),
        ('kernel = "sums"', 'kernel = "sums"\nstream = 1', "launch 1 has the unknown key 'stream'", 4),
        ('grid   = ["rows", 2]', "grid   = []", "launch 2: grid must be a list of one to three", 10),
        ('grid   = ["rows", 2]', "grid   = [1, 1, 1, 1]", "launch 2: grid must be a list of one to three", 10),
        ('grid   = ["rows", 2]', "grid   = [1.5]", "launch 2: grid must be an integer or an expression", 10),
        ('grid   = ["rows", 2]', "grid   = [true]", "launch 2: grid must be an integer or an expression", 10),
        ('grid   = ["rows", 2]', 'grid   = [""]', "launch 2: grid is an empty expression", 10),
        ('grid   = ["rows", 2]', 'grid   = ["rows ** 2"]', "launch 2: grid: .*not allowed", 10),
        ('grid   = ["rows", 2]', 'grid   = ["rows +"]', "launch 2: grid: .*cannot be read", 10),
        (
            'grid   = ["rows", 2]',
            'grid   = ["depth"]',
            "launch 2: grid uses the unknown name 'depth'; known are ROWS, cols",
            10,
        ),
        ("block  = [64, 2, 1]", 'block  = ["64 // (rows - 7)"]', "launch 2: block: .*divides by zero", 11),
        ('lds    = "4 * ROWS"', 'lds    = "4 * WAVES"', "launch 1: lds uses the unknown name 'WAVES'", 6),
        ('args   = ["part", "y", "ROWS"]', 'args   = ["y", ""]', "launch 2: args holds .*an argument is a name", 12),
        (
            'args   = ["part", "y", "ROWS"]',
            'args   = ["y", "rows:i9"]',
            "launch 2: the argument 'rows:i9' cannot be",
            12,
        ),
        ('args   = ["part", "y", "ROWS"]', 'args   = ["y", "rows +"]', "launch 2: the argument 'rows .' cannot be", 12),
        ('args   = ["part", "y", "ROWS"]', 'args   = ["y", "z"]', "launch 2: args names 'z'", 12),
        ('args   = ["part", "y", "ROWS"]', 'args   = ["part"]', "no launch takes the output 'y'", 2),
        ('part = ["f32", "rows", 4]', 'part = ["f32"]', "workspace: part must be a list", 15),
        ('part = ["f32", "rows", 4]', 'part = ["f33", 4]', "workspace: part has the unknown dtype 'f33'", 15),
        ('part = ["f32", "rows", 4]', 'part = ["f32", "row"]', "workspace: part uses the unknown name 'row'", 15),
        ('part = ["f32", "rows", 4]', 'x = ["f32", 4]\npart = ["f32", 4]', "'x' is already a name of the task", 15),
        ("ROWS = [4, 1, 2, 8]", "ROWS = []", "tunables: ROWS must be a list of at least one integer", 17),
        ("ROWS = [4, 1, 2, 8]", 'ROWS = ["4"]', "tunables: ROWS holds '4'", 17),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [4, true]", "tunables: ROWS holds True", 17),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [4, 4]", "lists a value twice", 17),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [2147483648]", "not a 32-bit integer", 17),
        ("ROWS = [4, 1, 2, 8]", '"A-B" = [1]', "'A-B' cannot be a macro's name", 17),
        ("ROWS = [4, 1, 2, 8]", "N = [1]", "tunables: 'N' is too short for a macro", 17),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [4]\nint = [1]", "'int' cannot be a macro's name", 18),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [4]\ncols = [1]", "'cols' is already a name of the task", 18),
        ("ROWS = [4, 1, 2, 8]", "ROWS = [4]\npart = [1]", "'part' is both a workspace and a tunable", 18),
        (
            'fits = "ROWS * cols * 4 <= 65536"',
            'fits = "COLS < 1"',
            "constraints: fits uses the unknown name 'COLS'",
            19,
        ),
        ('fits = "ROWS * cols * 4 <= 65536"', 'fits = "ROWS < 2"', "fits does not hold for the default tunables", 19),
        ("[constraints]", "[options]", "the plan has the unknown key 'options'", 18),
    ],
)
def test_every_malformed_field_is_named_with_its_line(old: str, new: str, message: str, line: int) -> None:
    assert PLAN.count(old) == 1
    error = fault(PLAN.replace(old, new))
    with pytest.raises(PlanError, match=message):
        raise error
    assert (error.line, error.fault) == (line, "content")


TAKES = {
    **dict.fromkeys(("kernel",), ("text",)),
    **dict.fromkeys(("grid", "block", "args", "part", "ROWS"), ("list",)),
    **dict.fromkeys(("lds", "fits"), ("text", "whole")),
}


@settings(max_examples=100)
@given(changed(PLAN, TAKES))
def test_a_value_of_another_kind_is_refused_at_its_line_by_the_name_of_its_field(wrong: tuple[str, str, int]) -> None:
    plan, name, line = wrong
    error = fault(plan)
    assert name in str(error) and (error.line, error.fault) == (line + 1, "content"), plan


@pytest.mark.parametrize(
    "plan", ["", "[tunables]\nAA = [1]\n", 'launch = "x"\n', "launch = []\n", "[launch]\nkernel = 1\n"]
)
def test_a_plan_needs_a_launch(plan: str) -> None:
    with pytest.raises(PlanError, match=r"at least one \[\[launch\]\]"):
        parse(source(plan))


def kernel(name: str = "sums", **more: object) -> KernelMetadata:
    args = (
        KernelArgument(True, 0, 8),
        KernelArgument(True, 8, 8),
        KernelArgument(False, 16, 4),
        KernelArgument(False, 24, 8),
        KernelArgument(False, 32, 4),
    )
    fields: dict[str, object] = {
        "name": name,
        "symbol": f"_Z4{name}",
        "args": args,
        "vgpr": 32,
        "agpr": 0,
        "sgpr": 16,
        "lds_bytes": 0,
        "scratch_bytes": 0,
        "max_block": 1024,
    }
    return KernelMetadata(**{**fields, **more})  # type: ignore[arg-type]
