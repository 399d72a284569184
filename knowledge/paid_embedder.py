"""The embedder of a run: each request is in the ledger and in the run's budget, and none is paid for twice."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from knowledge.embedder import EmbedderError, EndpointEmbedder, most_tokens
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.errors import BudgetExhausted
from records.experiment import ModelCall, Usage
from records.ledger import Ledger

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROLE = "embedder"


class PaidEmbedder:
    """An endpoint's embedder whose vectors a run pays for."""

    def __init__(
        self,
        embedder: EndpointEmbedder,
        run_id: str,
        ledger: Ledger,
        artefacts: ArtefactStore,
        usd_per_token: float,
        most: Callable[[], Allowance],
    ) -> None:
        """Nothing is asked yet. `most` are the limits of the whole run, which may change."""
        self.id = embedder.id
        self._embedder, self._run_id, self._ledger, self._artefacts = embedder, run_id, ledger, artefacts
        self._usd_per_token, self._most = usd_per_token, most

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Give the stored vectors of these texts, or new ones; EmbedderError where the budget has no money left."""
        prompt = json.dumps(list(texts), ensure_ascii=False)
        key = hashlib.sha256("\0".join((ROLE, self._run_id, self.id, prompt)).encode()).hexdigest()
        most_usd = most_tokens(texts) * self._usd_per_token
        model = self._embedder.model
        origin = self._run_id, ROLE, model, self._artefacts.put(prompt)
        call = ModelCall(key, *origin, "reserved", most_usd, usage=Usage(most_tokens(texts)))
        try:
            stored = self._ledger.reserve(call, self._most())
        except BudgetExhausted as error:
            raise EmbedderError(str(error)) from error
        if stored.state == "done" and stored.reply is not None:
            return _unpacked(self._artefacts.text(stored.reply))
        try:
            vectors, tokens = self._embedder.counted(texts)
        except EmbedderError:
            self._ledger.release(key)
            raise
        self._ledger.settle(key, self._artefacts.put(_packed(vectors)), Usage(tokens, 0, tokens * self._usd_per_token))
        return vectors


def _packed(vectors: NDArray[np.float32]) -> str:
    return json.dumps({"shape": vectors.shape, "float32": base64.b64encode(vectors.tobytes()).decode()})


def _unpacked(text: str) -> NDArray[np.float32]:
    import numpy as np

    stored = json.loads(text)
    return np.frombuffer(base64.b64decode(stored["float32"]), dtype=np.float32).reshape(stored["shape"])
