"""The faults that Ray tells of, none of which happens in one process."""


class RayError(Exception):
    """Any of them."""


class RayActorError(RayError):
    """An actor is not there."""


class ActorDiedError(RayActorError):
    """And will not be again."""


class ActorUnavailableError(RayActorError):
    """For the moment."""


class RayTaskError(RayError):
    """A method failed."""
