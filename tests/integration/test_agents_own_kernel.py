"""A scripted agent that brings a kernel of its own over MCP, is told what is missing, and takes files of its form."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_cli_optimise import INPUTS, KERNEL, LAUNCH, REFERENCE

pytestmark = [pytest.mark.long, pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")]


def test_an_agent_goes_from_its_kernel_to_an_exported_one_over_mcp(tmp_path: Path, compiler_cache: Path) -> None:
    import anyio

    from tests.support.mcp_client import answer, connected, refusal

    (tmp_path / "blog.hip").write_text(KERNEL)
    exported: dict[str, Any] = {}

    async def session() -> None:
        async with connected(tmp_path, compiler_cache) as client:
            missing = await refusal(client, "optimise", file="blog.hip")
            assert "the size rows" in missing and "x=f32[rows,cols]" in missing
            about = {"inputs": INPUTS, "sizes": {"rows": 256, "cols": 512}, "reference": REFERENCE, **LAUNCH}
            begun = await answer(client, "optimise", file="blog.hip", generations=1, **about)
            state = "running"
            while state == "running":
                await anyio.sleep(0.5)
                [row] = (await answer(client, "status", run=begun["run_id"]))["result"]
                state = row["state"]
            assert state == "done", row
            best = await answer(client, "best", run=begun["run_id"])
            exported.update(await answer(client, "export", run=begun["run_id"], path="mine", form="own"), best=best)

    anyio.run(session)
    assert exported["path"] == "mine/bias_relu.hip" and {"mine/bias_relu.h", "mine/README.md"} <= set(exported["files"])
    assert "bias_relu_launch(" in (tmp_path / "mine/bias_relu.h").read_text()
    assert (tmp_path / "mine/best.hip").read_text() == exported["best"]["source"]
