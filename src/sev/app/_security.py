"""Who may ask, and how much: host, origin, token, size of bodies, and the headers of every answer."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sev.app._errors import ServiceError, SupersededError, as_service_error
from sev.app._metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGER = logging.getLogger("sev.app")

#: No inline script, no inline style, no other host.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
#: Seconds in which the next piece of a body must arrive.
_BODY_SECONDS = 10.0


@contextmanager
def silent_warnings() -> Iterator[None]:
    """Nothing that a warning quotes goes to a log, whichever threads change the filters of warnings meanwhile.

    ``warnings.catch_warnings`` in several threads leaves the filters of one thread to the others, in this version of
    Python or that; it never touches ``formatwarning``, which makes the text of whatever is printed all the same.
    """
    shown, made = warnings.showwarning, warnings.formatwarning
    warnings.showwarning = lambda *message, **more: None
    warnings.formatwarning = lambda *message, **more: ""
    try:
        yield
    finally:
        warnings.showwarning, warnings.formatwarning = shown, made


class Guard:
    """An ASGI application around another one that lets through what may pass.

    Parameters
    ----------
    inner : ASGI application
        What answers.
    hosts : iterable of str
        Names by which the service may be called, beside addresses of numbers, which no name server can point elsewhere.
    token : str or None
        Required of every request for data; None: nobody but this machine can connect.
    body_bytes : int
        Largest body.
    metrics : Metrics
        Counts answers.
    """

    def __init__(
        self, inner: ASGIApp, *, hosts: Iterable[str], token: str | None, body_bytes: int, metrics: Metrics
    ) -> None:
        self._inner = inner
        self._hosts = {host.lower().strip("[]") for host in hosts} | {"localhost"}
        self._token = None if token is None else token.encode()
        self._body_bytes = body_bytes
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        start = time.perf_counter()
        sent: dict[str, int] = {}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                message["headers"] = _with_headers(message.get("headers", []), scope["path"])
            await send(message)

        try:
            self._check_request(scope)
            if scope["method"] not in ("GET", "HEAD"):
                receive = await self._with_body(receive)
            await self._inner(scope, receive, send_with_headers)
        except Exception as error:
            known = _log_defect(error)
            if "status" not in sent:
                await _send_error(known, send_with_headers)
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other") if sent.get("status", 500) != 404 else "other"
            self._metrics.count(path, sent.get("status", 500), time.perf_counter() - start)

    def _check_request(self, scope: Scope) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if not self._is_known_host(host):
            message = "This service does not answer to the host name of the request: --allow-host adds a name."
            raise ServiceError("forbidden", message, "Host")
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            raise ServiceError("forbidden", "Requests from pages of other sites are refused.", "Origin")
        needs_token = scope["path"].startswith("/api/") or scope["path"] == "/metrics"
        if needs_token and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise ServiceError("forbidden", "Requests from pages of other sites are refused.", "Sec-Fetch-Site")
        if self._token is not None and needs_token:
            given = headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                raise ServiceError("unauthorized", "The token is missing or wrong: send it as Authorization: Bearer.")
        if scope["method"] == "POST" and headers.get("content-type", "").partition(";")[0] != "application/json":
            raise ServiceError("bad_input", "The body must be JSON, with Content-Type: application/json.")
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self._body_bytes:
            raise self._too_large()

    def _is_known_host(self, host: str) -> bool:
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in self._hosts
        return True

    async def _with_body(self, receive: Receive) -> Receive:
        """The whole body, read before anybody works on it: one without a length may go on for ever."""
        body, more = bytearray(), True
        while more:
            try:
                message = await asyncio.wait_for(receive(), _BODY_SECONDS)
            except TimeoutError:
                raise ServiceError("timeout", "The body of the request did not arrive in time.") from None
            if message["type"] == "http.disconnect":
                raise SupersededError
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._body_bytes:
                raise self._too_large()
        waiting = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def receive_body() -> Message:
            return waiting.pop() if waiting else await receive()

        return receive_body

    def _too_large(self) -> ServiceError:
        return ServiceError("too_large", f"The body is larger than {self._body_bytes:,} bytes.")


def _log_defect(error: Exception) -> ServiceError:
    """What the caller is told; the log gets the place of a defect, never the values that led to it."""
    known = as_service_error(error)
    if known.code == "internal":
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown place"
        LOGGER.error("%s at %s", type(error).__name__, where)
    return known


def _with_headers(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() not in {one.encode() for one in _HEADERS}]
    own = {**_HEADERS, "cache-control": "no-cache" if path.startswith("/page/") or path == "/" else "no-store"}
    return [
        *((name, value) for name, value in kept if name.lower() != b"cache-control"),
        *((name.encode(), value.encode()) for name, value in own.items()),
    ]


async def _send_error(error: ServiceError, send: Send) -> None:
    body = json.dumps(error.to_plain(), ensure_ascii=False).encode("utf-8", "replace")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    if error.code in ("too_large", "timeout"):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
