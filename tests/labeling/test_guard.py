import asyncio

import pytest

from bayespoint.labeling.guard import MAX_BODY_BYTES, Guard, new_token

TOKEN = "secret-token"
HOST = (b"host", b"127.0.0.1:8000")
OURS = [
    HOST,
    (b"origin", b"http://127.0.0.1:8000"),
    (b"x-bayespoint-token", TOKEN.encode()),
    (b"content-type", b"application/json"),
    (b"sec-fetch-site", b"same-origin"),
]


def ask(headers=(HOST,), path=f"/{TOKEN}/state", method="GET", parts=(b"{}",), kind="http"):
    """Return the status, the headers, and what reached the application."""
    reached, sent = [], []

    async def app(scope, receive, send):
        message = await receive() if scope["method"] == "POST" else {"body": b""}
        reached.append((scope["path"], message["body"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    messages = [
        {"type": "http.request", "body": part, "more_body": i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "method": method, "path": path, "headers": list(headers)}
    asyncio.run(Guard(app, TOKEN)(scope, receive, send))
    start = sent[0] if sent else {"status": None, "headers": []}
    return start["status"], dict(start["headers"]), reached


def without(name, *more):
    return [pair for pair in OURS if pair[0] != name] + list(more)


def test_our_own_page_passes():
    status, headers, reached = ask()
    assert (status, reached) == (200, [("/state", b"")])
    assert b"default-src 'none'" in headers[b"content-security-policy"]
    assert headers[b"cache-control"] == b"no-store"
    assert ask(OURS, method="POST", path=f"/{TOKEN}/act")[2] == [("/act", b"{}")]


@pytest.mark.parametrize("host", [b"localhost", b"localhost:1", b"127.0.0.1", b"[::1]:80"])
def test_names_of_this_machine(host):
    assert ask([(b"host", host)])[0] == 200


@pytest.mark.parametrize(
    "host",
    [b"", b"evil.example", b"evil.example:8000", b"127.0.0.1.evil.example:80", b"0.0.0.0:8000",
     b"localhost.evil.example", b"user@127.0.0.1:80", b"192.168.0.2:8000"],
)  # fmt: skip
def test_dns_rebinding_is_refused(host):
    status, _, reached = ask([(b"host", host)])
    assert (status, reached) == (403, [])


@pytest.mark.parametrize(
    "path", ["/", "/state", "/wrong/state", f"/{TOKEN}x/state", f"//{TOKEN}/state", "/sécret/a"]
)
def test_a_missing_or_wrong_token_is_refused(path):
    assert ask(path=path)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        without(b"origin", (b"origin", b"http://evil.example")),
        without(b"origin", (b"origin", b"null")),
        without(b"origin", (b"origin", b"http://127.0.0.1:9999")),
        without(b"origin", (b"origin", b"https://127.0.0.1:8000")),
        without(b"sec-fetch-site", (b"sec-fetch-site", b"cross-site")),
        without(b"sec-fetch-site", (b"sec-fetch-site", b"same-site")),
        without(b"x-bayespoint-token"),
        without(b"x-bayespoint-token", (b"x-bayespoint-token", b"other")),
        without(b"content-type"),
        without(b"content-type", (b"content-type", b"text/plain")),
        without(b"content-type", (b"content-type", b"application/x-www-form-urlencoded")),
    ],
)
def test_posts_from_elsewhere_are_refused(headers):
    status, _, reached = ask(headers, method="POST")
    assert (status, reached) == (403, [])


def test_reading_from_another_page_is_refused_but_a_link_may_open_ours():
    site, navigate = (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-mode", b"navigate")
    assert ask([HOST, site])[0] == 403
    assert ask([HOST, site, navigate])[0] == 200
    assert ask(without(b"sec-fetch-site", site, navigate), method="POST")[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_need_what_posts_need(method):
    assert ask(method=method)[0] == 403


def test_large_bodies_are_refused_whatever_they_say():
    length = (b"content-length", str(MAX_BODY_BYTES + 1).encode())
    assert ask([*OURS, length], method="POST")[0] == 413
    assert ask([*OURS, (b"content-length", b"-1")], method="POST")[0] == 413
    halves = [b"x" * (MAX_BODY_BYTES // 2 + 1)] * 2
    status, _, reached = ask(OURS, method="POST", parts=halves)
    assert (status, reached) == (413, [])
    parts = [b"x" * 10] * 3
    assert ask(OURS, method="POST", parts=parts)[2] == [("/state", b"x" * 30)]


def test_no_other_protocols():
    assert ask(kind="websocket")[2] == []


def test_tokens_are_long_and_different():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 32
