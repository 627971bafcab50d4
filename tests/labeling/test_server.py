import json
import socket
import threading
import time
import urllib.parse

import pytest

from bayespoint.labeling.server import Server
from labeling_helpers import (
    arrow_table,
    get_json,
    label,
    make_desk,
    request,
    served,
    two_groups,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a server, its desk, and the classes of the rows."""
    folder = tmp_path_factory.mktemp("server")
    X, y = two_groups()
    names = ["../secret.png", "/etc/passwd", "no.png", "", *["<b>.png"] * 196]
    table = arrow_table(X, photo=names)
    desk = make_desk(folder, X, table=table, image="photo", classes=["yes", "no"])
    with served(desk, folder) as server:
        yield server.address, desk, y


def test_the_page_and_its_parts(world):
    address, _, _ = world
    for name, kind in (
        ("", "text/html"), ("app.js", "text/javascript"), ("style.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
    ):  # fmt: skip
        status, headers, text = request(address, name)
        assert status == 200
        assert headers["content-type"].startswith(kind)
        assert headers["x-content-type-options"] == "nosniff"
        assert "http://" not in text.replace("http://www.w3.org/", "")
        assert "https://" not in text
        assert "innerHTML" not in text


def test_nothing_else_is_served(world):
    address, _, _ = world
    for path in ("desk.py", "../desk.py", "%2e%2e/desk.py", "page/app.js", "row/-1", "row/200"):
        assert request(address, path)[0] == 404, path


def test_answers_and_the_state(world):
    address, _, y = world
    state = get_json(address)
    assert state["classes"][:2] == ["yes", "no"]
    row = state["question"]["row"]
    status, _, text = request(address, "act", label(row, y[row], id="1"))
    assert status == 200
    news = json.loads(text)
    assert get_json(address, "answers")[0]["row"] == row
    assert news["question"]["row"] != row
    assert news["recent"][0]["answer"] == {"label": y[row]}
    assert news["stamp"] != state["stamp"]


def test_a_state_that_is_known_is_not_sent_again(world):
    address, _, _ = world
    stamp = get_json(address)["stamp"]
    status, _, text = request(address, f"state?stamp={stamp}")
    assert (status, text) == (204, "")


def test_refusals_come_with_words_and_the_state(world):
    address, desk, _ = world
    request(address, "act", label(50, "yes"))
    status, _, text = request(address, "act", label(50, "no"))
    assert status == 409
    content = json.loads(text)
    assert content["kind"] == "stale"
    assert "another window" in content["error"]
    assert content["state"]["stamp"] == desk.stamp
    status, _, text = request(address, "act", label(51, "NA"))
    assert status == 400
    assert "missing value" in json.loads(text)["error"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"\xff", b'{"action": "label"}'])
def test_nonsense_is_an_error_in_words(world, data):
    address, _, _ = world
    status, _, text = request(address, "act", data=data)
    assert status == 400
    assert "Traceback" not in text


def test_large_bodies_are_refused(world):
    address, _, _ = world
    assert request(address, "act", data=b"x" * 100_000)[0] == 413


def test_search_and_rows(world):
    address, _, _ = world
    found = get_json(address, "search?text=7")
    assert found[0]["row"] == 6
    assert get_json(address, "search?text=" + urllib.parse.quote("<b>"))[0]["row"] == 4
    assert get_json(address, "row/6")["cells"][0]["name"] == "x0"


@pytest.mark.parametrize("row", [0, 1, 2, 3, 4])
def test_pictures_that_are_not_there_or_not_ours(world, row):
    address, _, _ = world
    status, headers, text = request(address, f"image/{row}")
    assert status == 404
    assert headers["content-type"].startswith("text/plain")
    assert "root:" not in text


def test_strangers_are_refused(world):
    address, desk, _ = world
    n_entries = len(desk.journal.entries)
    base = address.rsplit("/", 2)[0] + "/"
    assert request(base, "state")[0] == 403
    assert request(base, "wrong/state")[0] == 403
    assert request(address, "state", headers={"Host": "evil.example"})[0] == 403
    post = label(60, "yes")
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"X-Bayespoint-Token": None},
        {"Content-Type": "text/plain"},
        {"Host": "evil.example:80"},
    ):
        assert request(address, "act", post, headers)[0] == 403, headers
        assert request(address, "finish", {}, headers)[0] == 403, headers
    assert len(desk.journal.entries) == n_entries
    assert not desk.finish_requested.is_set()


def test_only_this_machine(world):
    address, _, _ = world
    port = int(address.split(":")[2].split("/")[0])
    other = next(
        (a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
         if not a[4][0].startswith("127.")), None
    )  # fmt: skip
    if other is None:
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        socket.create_connection((other, port), timeout=5)


def test_many_windows_at_once(world):
    address, desk, y = world
    rows = [row for row in range(100, 140) if desk.answer(row) is None]
    before = len(desk.journal.entries)

    def answer(some):
        for row in some:
            assert request(address, "act", label(row, y[row], id=f"many-{row}"))[0] == 200

    threads = [threading.Thread(target=answer, args=(rows,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(desk.answer(row) == {"label": y[row]} for row in rows)
    written = [e for e in desk.journal.entries[before:] if e.action == "label"]
    assert sorted(entry.row for entry in written) == rows


def test_a_port_that_is_taken_is_said(tmp_path):
    X, _ = two_groups(20)
    desk = make_desk(tmp_path, X)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {port} of this machine cannot be used"):
            Server(desk, tmp_path, port)
    desk.journal.close()


def test_a_connection_that_arrives_while_the_server_ends_is_closed(tmp_path, monkeypatch):
    """One that stays open is a warning when it is collected, in whatever runs then."""
    monkeypatch.setattr("bayespoint.labeling.server.END_SECONDS", 0)
    X, _ = two_groups()
    desk = make_desk(tmp_path, X)
    with served(desk, tmp_path) as server:
        address = urllib.parse.urlsplit(server.address)
        with socket.create_connection((address.hostname, address.port)):
            while not server._server.server_state.connections:
                time.sleep(0.01)
            (late,) = server._server.server_state.connections
            late.shutdown = lambda: None  # it was not there yet when the others were closed
            server.stop()
            assert late.transport.is_closing()
