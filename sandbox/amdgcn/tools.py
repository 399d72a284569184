"""Runs one tool of the compiler in a folder of its own: an empty environment, limits, a deadline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox.amdgcn.toolchain import Toolchain
from sandbox.evidence import Evidence
from sandbox.process import Completed, ProcessLimits, run

TIMEOUT_S = 60.0
LIMITS = ProcessLimits(cpu_s=60, memory_bytes=8 << 30, file_bytes=256 << 20)


@dataclass(frozen=True)
class Tools:
    """The compiler's tools, and who keeps a record of their calls."""

    toolchain: Toolchain
    evidence: Evidence | None = None
    timeout_s: float = TIMEOUT_S

    def run(self, work: Path, tool: str, *args: str) -> Completed:
        """Run clang or ld.lld with this folder as its working, home and temporary directory."""
        environment = {**self.toolchain.environment(), "TMPDIR": str(work), "HOME": str(work)}
        argv = self.toolchain.command(tool, *args)
        done = run(argv, cwd=work, env=environment, timeout_s=self.timeout_s, limits=LIMITS, output_cap=2 * 65536)
        if self.evidence:
            self.evidence.command(work, argv, environment, done)
        return done
