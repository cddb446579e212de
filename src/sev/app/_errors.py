"""Errors of the interface: a code for programs, a message for people, and nothing else."""

from __future__ import annotations

from sev.exceptions import SevError, UnknownFeatureError

#: HTTP status of each code.
HTTP_STATUS = {
    "bad_input": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "read_only": 403,
    "not_found": 404,
    "superseded": 409,
    "too_large": 413,
    "too_many_requests": 429,
    "internal": 500,
    "unavailable": 503,
    "timeout": 504,
}
_MOST_CHARACTERS = 2000


class ServiceError(SevError):
    """A request that is not answered, and why.

    Parameters
    ----------
    code : str
        One of :data:`HTTP_STATUS`.
    message : str
        What is wrong and what to do.
    field : str, default=None
        The entry of the request, the column or the feature that is meant.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message[:_MOST_CHARACTERS]
        self.field = field

    @property
    def status(self) -> int:
        """The HTTP status."""
        return HTTP_STATUS[self.code]

    def to_plain(self) -> dict[str, dict[str, str | None]]:
        """The body of the answer."""
        return {"error": {"code": self.code, "message": self.message, "field": self.field}}


class SupersededError(ServiceError):
    """The person has typed on: a newer request takes the place of this one."""

    def __init__(self) -> None:
        super().__init__("superseded", "A newer request of the same page has replaced this one.")


def as_service_error(error: Exception) -> ServiceError:
    """What a caller is told about any error.

    Errors of this package are written for users. Of all others only the kind is told: their messages may hold anything.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, UnknownFeatureError):
        return ServiceError("not_found", str(error))
    if isinstance(error, SevError):
        return ServiceError("bad_input", str(error))
    if isinstance(error, (OverflowError, RecursionError, MemoryError)):
        return ServiceError("bad_input", f"These values are too large to be explained ({type(error).__name__}).")
    return ServiceError("internal", f"The service failed ({type(error).__name__}). The decision was not explained.")
