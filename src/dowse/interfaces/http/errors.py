"""What can go wrong before a request reaches the engine, as leaves of the one error tree."""

from dowse.errors import DowseError, UsageError

__all__ = [
    "BodyTimeoutError",
    "BusyError",
    "ForeignHostError",
    "ForeignOriginError",
    "HeadersTooLargeError",
    "LeftError",
    "MediaTypeError",
    "MethodError",
    "RateError",
    "RequestTimeoutError",
    "TooLargeError",
    "UnauthorizedError",
    "UnreadableError",
]


class UnreadableError(UsageError):
    """What was sent is no JSON, or no UTF-8."""

    code = "unreadable"


class UnauthorizedError(DowseError):
    """There is no token, or it is wrong, expired or revoked; which of these is not said."""

    code = "unauthorized"
    exit_code = 4
    http_status = 401


class ForeignOriginError(DowseError):
    """A web page of another origin sent this."""

    code = "foreign_origin"
    exit_code = 4
    http_status = 403


class MethodError(DowseError):
    """The address is known, but not with this method."""

    code = "method_not_allowed"
    exit_code = 2
    http_status = 405


class BodyTimeoutError(DowseError):
    """The body came too slowly."""

    code = "body_timeout"
    http_status = 408


class TooLargeError(DowseError):
    """The body is larger than is read."""

    code = "too_large"
    exit_code = 2
    http_status = 413


class MediaTypeError(DowseError):
    """The body is of a type that the route does not take."""

    code = "unsupported_media_type"
    exit_code = 2
    http_status = 415


class ForeignHostError(DowseError):
    """The request is addressed to a name that is none of this server's."""

    code = "foreign_host"
    exit_code = 4
    http_status = 421


class RateError(DowseError):
    """One client asks too often."""

    code = "rate_limited"
    http_status = 429


class HeadersTooLargeError(DowseError):
    """The headers are larger than is read."""

    code = "headers_too_large"
    exit_code = 2
    http_status = 431


class LeftError(DowseError):
    """The client left before it had sent its request; nobody reads this, but it is counted by its status."""

    code = "left"
    http_status = 499


class BusyError(DowseError):
    """Too many requests are under way."""

    code = "busy"
    http_status = 503


class RequestTimeoutError(DowseError):
    """The answer took too long; the work itself may go on to its end."""

    code = "timeout"
    http_status = 504
