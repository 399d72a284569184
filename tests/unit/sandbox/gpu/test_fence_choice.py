from __future__ import annotations

import pytest

from records.errors import MachineError
from sandbox.gpu.fence import FENCES, Fence
from sandbox.gpu.fence_choice import require_fence


@pytest.mark.parametrize("fence", FENCES)
def test_work_that_nobody_watches_wants_files_kept_or_a_word_that_allows_it(fence: Fence) -> None:
    require_fence(fence, "limits")
    if fence in ("closed", "listening", "local"):
        require_fence(fence, "strict")
    else:
        with pytest.raises(MachineError, match="allow it with --isolation limits"):
            require_fence(fence, "strict")
