"""Who may talk to the server: only the page that it served itself, on this machine."""

from __future__ import annotations

import secrets
from typing import Any

# Names of this machine. A stranger's page that points its own name to 127.0.0.1 has another one.
HOST_NAMES = {"127.0.0.1", "localhost", "[::1]"}
TOKEN_HEADER = b"x-bayespoint-token"
TOKEN_BYTES = 24
MAX_BODY_BYTES = 64 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"cache-control": b"no-store",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
FORBIDDEN, TOO_LARGE = 403, 413


def new_token() -> str:
    """Return a secret for the address of the page."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class Guard:
    """Pass on requests that carry the token and come from our own page; refuse all others.

    Parameters
    ----------
    app : ASGI application
        Gets paths without the token in front.
    token : str
        The first part of every path, and a header of every POST.
    """

    def __init__(self, app: Any, token: str):
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return None
        send = _with_headers(send)
        headers = dict(scope["headers"])
        reason = self._refuse(scope, headers)
        if reason:
            await _read(receive, headers)  # or the connection breaks before the answer is read
            return await _answer(send, FORBIDDEN, reason)
        path = scope["path"][len(self._token) + 1 :]
        scope = scope | {"path": path or "/", "raw_path": (path or "/").encode()}
        if scope["method"] in ("GET", "HEAD"):
            return await self._app(scope, receive, send)
        body = await _read(receive, headers)
        if body is None:
            return await _answer(send, TOO_LARGE, "The request is too large.")

        async def replay() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        return await self._app(scope, replay, send)

    def _refuse(self, scope: dict[str, Any], headers: dict[bytes, bytes]) -> str | None:
        """Return why a request is refused, or None."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host.rpartition(":")[0] not in HOST_NAMES and host not in HOST_NAMES:
            return "This server answers to 127.0.0.1 and localhost only."
        first = scope["path"].split("/")[1].encode("utf-8", "replace")
        if not secrets.compare_digest(first, self._token):
            return "Open the whole address that bayespoint label has printed: its token is missing."
        site = headers.get(b"sec-fetch-site", b"none")
        reading = scope["method"] in ("GET", "HEAD")
        opening = reading and headers.get(b"sec-fetch-mode") == b"navigate"
        if site not in (b"none", b"same-origin") and not opening:
            return "Requests from other pages are refused."
        if headers.get(b"origin", b"").lower() not in (b"", f"http://{host}".encode()):
            return "Requests from other pages are refused."
        if not reading and not self._may_write(headers):
            return "Only the page itself may change anything."
        return None

    def _may_write(self, headers: dict[bytes, bytes]) -> bool:
        """Tell whether a request has what other pages cannot send: our header, and JSON."""
        token = headers.get(TOKEN_HEADER, b"")
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        return secrets.compare_digest(token, self._token) and kind == b"application/json"


def _with_headers(send: Any) -> Any:
    """Return a function that adds our headers to every answer."""

    async def wrapped(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in HEADERS]
            message = message | {"headers": [*kept, *HEADERS.items()]}
        await send(message)

    return wrapped


async def _read(receive: Any, headers: dict[bytes, bytes]) -> bytes | None:
    """Return the body of a request, or None if it is too large."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > MAX_BODY_BYTES:
        return None
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body"):
            return body


async def _answer(send: Any, status: int, text: str) -> None:
    start = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": text.encode()})
