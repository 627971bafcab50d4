"""The server behind the page, on this machine only."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .desk import Desk, Refused
from .guard import Guard, new_token
from .images import ImageError, read_image
from .labels import LabelError

HOST = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
PAGE_TYPES = {
    "index.html": "text/html",
    "style.css": "text/css",
    "app.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
STATUS = {"stale": 409, "invalid": 400, "disk": 507, "finishing": 409}
MAX_SEARCH_CHARACTERS = 200
# Seconds that the server waits to start, and that open requests have at its end.
START_SECONDS, END_SECONDS = 20, 2
# Turns of the event loop until a connection that was being accepted is there and closed.
END_TICKS = 10


def make_app(desk: Desk, folder: Path) -> Starlette:
    """Return the application, without its guard.

    Parameters
    ----------
    desk : Desk
        The session.
    folder : Path
        Pictures are read from below it.
    """

    def state(request: Request) -> Response:
        if request.query_params.get("stamp") == desk.stamp:
            return Response(status_code=204)
        return JSONResponse(desk.state())

    def row(request: Request) -> Response:
        number = _row(request, desk)
        return JSONResponse(desk.show(number, whole="whole" in request.query_params))

    def search(request: Request) -> Response:
        text = request.query_params.get("text", "")[:MAX_SEARCH_CHARACTERS]
        return JSONResponse(desk.search(text))

    def image(request: Request) -> Response:
        name, number = desk.rows.image, _row(request, desk)
        cell = None if name is None else desk.rows.cell(number, name)
        if cell is None:
            raise HTTPException(404, "This row has no picture.")
        try:
            found = read_image(cell, folder)
        except ImageError as error:
            raise HTTPException(404, str(error)) from None
        return Response(found.content, media_type=found.media_type)

    async def act(request: Request) -> Response:
        try:
            wish = json.loads(await request.body())
        except ValueError:
            wish = None
        if not isinstance(wish, dict):
            raise HTTPException(400, "A request should be a JSON object.")
        return await run_in_threadpool(_act, desk, wish)

    def finish(request: Request) -> Response:
        desk.request_finish()
        return JSONResponse(desk.state())

    routes = [Route(f"/{name}", _page_file(name, kind)) for name, kind in PAGE_TYPES.items()]
    routes += [
        Route("/", _page_file("index.html", "text/html")),
        Route("/state", state),
        Route("/row/{row:int}", row),
        Route("/image/{row:int}", image),
        Route("/answers", lambda request: JSONResponse(desk.answers())),
        Route("/search", search),
        Route("/act", act, methods=["POST"]),
        Route("/finish", finish, methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _in_words, 500: _unexpected})


def _act(desk: Desk, wish: dict[str, Any]) -> Response:
    """Do it, and return the new state; a refusal has the state too, and says why."""
    try:
        desk.act(wish)
    except (Refused, LabelError) as error:
        kind = error.kind if isinstance(error, Refused) else "invalid"
        content = {"error": str(error), "kind": kind, "state": desk.state()}
        return JSONResponse(content, STATUS[kind])
    return JSONResponse(desk.state())


def _page_file(name: str, media_type: str) -> Any:
    def send(request: Request) -> Response:
        return FileResponse(PAGE / name, media_type=media_type)

    return send


def _row(request: Request, desk: Desk) -> int:
    number = request.path_params["row"]
    if not 0 <= number < len(desk.rows):
        raise HTTPException(404, "There is no such row.")
    return number


def _in_words(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(str(error.detail), error.status_code)


def _unexpected(request: Request, error: Exception) -> Response:
    text = f"Something unexpected happened: {type(error).__name__}: {error}"
    return PlainTextResponse(text, 500)


class _Server(uvicorn.Server):
    """A server that closes connections, too, that arrive while it ends."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for _ in range(END_TICKS):
            for connection in list(self.server_state.connections):
                if connection.transport is not None:
                    connection.transport.abort()
            await asyncio.sleep(0)


class Server:
    """A server in a thread of its own.

    Attributes
    ----------
    address : str
        What to open in a browser. It holds the token.
    """

    def __init__(self, desk: Desk, folder: Path, port: int = 0, token: str | None = None):
        token = token or new_token()
        try:
            self._socket = socket.create_server((HOST, port))
        except OSError as error:
            raise OSError(
                f"Port {port} of this machine cannot be used ({error.strerror}). Give another "
                "one with --port, or none."
            ) from None
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/{token}/"
        config = uvicorn.Config(
            Guard(make_app(desk, folder), token),
            log_level="critical",
            access_log=False,  # it would show the token
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=END_SECONDS,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise OSError("The server of the page did not start.")
            time.sleep(0.01)

    def stop(self) -> None:
        """Finish open requests, and end."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()
