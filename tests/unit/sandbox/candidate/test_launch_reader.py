from __future__ import annotations

import pytest

from records.errors import PlanError
from sandbox.candidate.fit import check
from sandbox.candidate.launch_reader import waits_for_grid
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Launch, Loop
from sandbox.candidate.resolve import BufferArg, ScalarArg, resolve
from tests.support.plans import BODY, a_task, source

TASK = a_task()


def launches(plan: str) -> tuple[Launch, ...]:
    candidate = parse(source(plan))
    check(candidate, TASK)
    return candidate.plan.launches


def launch_text(**keys: str) -> str:
    keys_of_launch = {"kernel": '"k"', "grid": "[1]", "block": "[64]", "args": '["x", "y"]', **keys}
    return "[[launch]]\n" + "".join(f"{key} = {value}\n" for key, value in keys_of_launch.items())


def test_every_kind_of_argument_is_kept_as_it_was_written() -> None:
    args = '["x", "y + rows", 3, 1.5, true, "null", "rows * cols:i64", ["rows", [1, "eps"]], {a = 1, b = "x"}]'
    (launch,) = launches(launch_text(args=args, kernel='"ops::k<float,  (cols_of<2>::value)>"'))
    assert launch.kernel == "ops::k<float, (cols_of<2>::value)>"
    assert launch.args == (
        *("x", "y + rows", "3", "1.5:f32", "1:bool", "null", "rows * cols:i64"),
        ("rows", ("1", "eps")),
        ("1", "x"),
    )
    assert launch.structs == 0b110000000


def test_copies_and_fills_come_before_the_launch_and_may_stand_alone() -> None:
    body = 'fill = {y = 0}\ncopy = {part = "x"}\n'
    plan = f'{launch_text()}{body}[[launch]]\nfill = {{y = -inf}}\n[workspace]\npart = ["f32", "rows", "cols"]\n'
    assert [(x.kernel, x.args[:2]) for x in launches(plan)] == [
        ("ks_copy", ("part", "x")),
        ("ks_fill", ("y", "0")),
        ("k", ("x", "y")),
        ("ks_fill", ("y", "-inf")),
    ]


def test_variables_of_the_device_become_what_a_buffer_is_or_a_value() -> None:
    plan = launch_text(symbol='{mask = "x + rows", "ops::size" = ["rows", 1], half = 0.5}')
    parsed = launches(plan)
    assert [(x.kernel, x.args) for x in parsed[:3]] == [
        ("ks_contents<&mask>", ("x + rows", "0:i64")),
        ("ks_value<&ops::size>", (("rows", "1"),)),
        ("ks_value<&half>", (("0.5:f32",),)),
    ]
    assert [x.writes_variable for x in parsed] == [True, True, True, False]
    first = resolve(parse(source(plan)), TASK, TASK.tests[0]).launches[0]
    assert first.args == (BufferArg("x", 28), ScalarArg("i64", 27972)) and first.grid == (14, 1, 1)


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("auto grid = cg::this_grid(); grid.sync();", True),
        ("cooperative_groups::this_grid().sync();", True),
        ("void f(cg::grid_group& all) { cg::sync(all); }", True),
        ("cg::grid_group *g = nullptr; cg::grid_group all{cg::this_grid()}; all.sync();", True),
        ("auto grid = cg::this_grid(); auto block = f(); block.sync(); y[grid.thread_rank()] = 1;", False),
        ("block.sync(); __syncthreads();", False),
    ],
)
def test_a_launch_is_cooperative_where_it_says_so_or_the_text_waits_for_the_grid(text: str, waits: bool) -> None:
    assert waits_for_grid(text) == waits
    for flag in ("true", "false"):
        (launch,) = launches(launch_text(cooperative=flag))
        assert launch.cooperative == (flag == "true")
        assert (
            resolve(parse(source(launch_text(cooperative=flag))), TASK, TASK.tests[0]).launches[0].cooperative
            == launch.cooperative
        )


def test_a_body_stands_in_the_loops_around_it() -> None:
    plan = (
        '[[launch]]\nfor = "i in range(2)"\n[[launch.body]]\nfor = ["j in range(i, 3)"]\n'
        + launch_text(grid='["i + j + 1"]').partition("\n")[2]
        + "[[launch.body]]\n"
        + launch_text(when='"i > 0"').partition("\n")[2]
        + launch_text()
    )
    parsed = launches(plan)
    assert [[loop.name for loop in x.loops] for x in parsed] == [["i", "j"], ["i"], []]
    assert parsed[0].loops[0] == parsed[1].loops[0] == Loop("i", "0", "2", "1", 1)
    plan_resolved = resolve(parse(source(plan)), TASK, TASK.tests[0])
    assert [x.grid[0] for x in plan_resolved.launches] == [1, 2, 3, 3, 4, 1, 1]


@pytest.mark.parametrize(
    ("plan", "part"),
    [
        (launch_text(kernel='"a b"'), "kernel must be the name"),
        (launch_text(cooperative="1"), "cooperative is true or false"),
        (launch_text(kernel='"k<int>; x"'), "kernel must be the name"),
        (launch_text(kernel='"ks_fill"'), "the name ks_fill belongs to the judge"),
        (launch_text(kernel='"k<1"'), "kernel must be the name"),
        (launch_text(args="[[[[[1]]]]]"), r"args holds \[1\]; an argument is a name"),
        (launch_text(args='["x y"]'), "the argument 'x y' cannot be read"),
        (launch_text(args='["x", "y", "i"]'), "args names 'i'"),
        (launch_text(fill="{y = true}"), "fill gives a buffer one number"),
        (launch_text(fill="{z = 1}"), "'z' is none"),
        (launch_text(copy='{y = "rows"}'), "'rows' is none"),
        (launch_text(symbol='{"a b" = "x"}'), "symbol names variables of the device"),
        (launch_text(symbol='{ks_lds = "x"}'), "symbol names variables of the device"),
        (launch_text(symbol='{mask = "z"}'), "symbol names 'z'"),
        (launch_text(symbol='"mask"'), "symbol must be a table such as"),
        (launch_text(copy='{x = "y"}'), "an input may not change, and 'x' is one"),
        (launch_text(**{"for": '"i in x"'}), "for must be a text such as"),
        (launch_text(**{"for": '"i in range(2, 1, 0)"'}), "steps by 0"),
        (launch_text(**{"for": '"rows in range(2)"'}), "the loop's name 'rows' is taken"),
        (launch_text(**{"for": '"i in range(n)"'}), "for uses the unknown name 'n'"),
        (launch_text(when='"i"'), "when uses the unknown name 'i'"),
        (launch_text(body="[]"), "body must be"),
        ("[[launch]]\nfill = {y = 0}\nbody = [{fill = {y = 0}}]\n", "put 'fill' into its tables"),
        ("[[launch]]\nbody = [{body = [{fill = {y = 0}}]}]\n", "the unknown key 'body'"),
    ],
)
def test_what_cannot_be_is_one_sentence(plan: str, part: str) -> None:
    with pytest.raises(PlanError, match=part) as caught:
        launches(plan)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("plan", "part"),
    [
        (launch_text(**{"for": '["i in range(2000)"]'}), "more than 1024 launches"),
        (launch_text(when='"rows > 7"'), "the plan launches nothing"),
        (launch_text(fill="{y = nan}", copy='{y = "x"}'), "copy: y has 28 bytes and x has 28000"),
        (launch_text(symbol='{mask = "rows"}'), "'rows' is no buffer; a value stands in a list"),
        (launch_text(args='["x", "y - 1"]'), "points before the buffer y"),
        (launch_text(args='["x", ["rows", "y + 8"]]'), "an argument points 32 bytes into y, which is shorter"),
        (launch_text(args='["x", "y", "rows * 1000000000"]'), "7000000000, too large for a 32-bit int"),
        (launch_text(args='["x", "y", "-rows:u32"]'), "-7, too large for u32"),
        (launch_text(args='["x", "y", "1 / (rows - 7)"]'), "has no value"),
        (launch_text(args='["x", "y", "x:i64"]'), "is a pointer and has no type"),
        ("[[launch]]\nfill = {part = 1e9}\n" + launch_text() + '[workspace]\npart = ["i8", 4]\n', "1e9|1000000000.0"),
    ],
)
def test_what_has_no_value_on_a_case_is_one_sentence(plan: str, part: str) -> None:
    candidate = parse(source(plan))
    with pytest.raises(PlanError, match=part) as caught:
        check(candidate, TASK)
        resolve(candidate, TASK, TASK.tests[0])
    assert caught.value.line and "\n" not in str(caught.value)


def test_a_tunable_whose_name_the_code_declares_may_have_any_name() -> None:
    body = f"{BODY}template <int N, int BLOCK> __global__ void k(const float* x, float* y);\n"
    plan = launch_text(kernel='"k<N, BLOCK>"') + "[tunables]\nN = [4, 8]\nBLOCK = [64]\n"
    assert parse(source(plan, body)).defaults() == {"N": 4, "BLOCK": 64}
    with pytest.raises(PlanError, match="'N' is too short for a macro"):
        parse(source(plan))


@pytest.mark.parametrize(
    "text",
    [
        "n" * 500_000,
        "grid_group" + " " * 500_000 + ";",
        "".join(f"a{number} = this_grid(" for number in range(30_000)) + "b.sync(" * 30_000,
    ],
    ids=["one long word", "many spaces", "many names"],
)
def test_a_text_made_to_be_read_slowly_is_read_once(text: str) -> None:
    """A judge reads it in its own process: each of these took minutes."""
    assert not waits_for_grid(text)


@pytest.mark.parametrize(
    ("dtype", "number", "word"),
    [
        ("u64", 2**64 - 1, -1),
        ("u32", 2**32 - 1, -1),
        ("u32", 2**31, -(2**63) + 2**31),
        ("u16", 2**16 - 2, -(2**48 + 2**32 + 2**16 + 1) - 1),
        ("i32", -1, -1),
    ],
)
def test_a_fill_may_be_any_number_that_a_type_without_a_sign_holds(dtype: str, number: int, word: int) -> None:
    plan = f'{launch_text()}fill = {{part = {number}}}\n[workspace]\npart = ["{dtype}", "rows"]\n'
    filled = resolve(parse(source(plan)), TASK, TASK.tests[0]).launches[0]
    assert filled.args[1] == ScalarArg("i64", word)


def test_a_fill_beyond_its_type_is_refused() -> None:
    for dtype, number in (("u32", 2**32), ("u64", 2**64), ("u8", 256), ("i8", 128)):
        plan = f'{launch_text()}fill = {{part = {number}}}\n[workspace]\npart = ["{dtype}", "rows"]\n'
        with pytest.raises(PlanError, match=f"{number} is no value of"):
            resolve(parse(source(plan)), TASK, TASK.tests[0])
