"""The places of actors."""


class NodeAffinitySchedulingStrategy:
    """On one node."""

    def __init__(self, node: str, soft: bool) -> None:
        self.node, self.soft = node, soft
