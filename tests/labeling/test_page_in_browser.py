"""The page in a real browser: Chromium, without a window."""

import errno
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from bayespoint.labeling.journal import read
from browser_helpers import emulate, luminance, urls_and_errors
from labeling_helpers import PIXEL, arrow_table, label, make_desk, served, two_groups

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
COMMAND = [sys.executable, "-c", "from bayespoint.cli import main; main()"]
SECONDS = 30


def show(browser, address, *, width=1280, scheme="light"):
    """Open the page, and wait for the first row."""
    browser.get("about:blank")
    browser.get_log("performance"), browser.get_log("browser")
    emulate(browser, width, scheme)
    browser.get(address)
    wait(browser, lambda: text(browser, "place").startswith(("Row", "Done")))


def wait(browser, condition):
    WebDriverWait(browser, SECONDS, 0.02).until(lambda _: condition())


def text(browser, name):
    return browser.find_element(By.ID, name).text


def press(browser, keys):
    """Press keys when the page is ready: it ignores them while it saves an answer."""
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#main[aria-busy=false]"))
    press_at_once(browser, keys)


def press_at_once(browser, keys):
    browser.find_element(By.TAG_NAME, "body").send_keys(keys)


def row_shown(browser):
    return int(re.sub(r"\D", "", text(browser, "place").split(",")[0])) - 1


def n_labels(browser):
    return int(text(browser, "n-labels").replace(",", ""))


def answer_by_keys(browser, y, n, classes=("no", "yes")):
    """Answer so many questions with the keyboard, as a person does who looks at each row."""
    for _ in range(n):
        before, row = n_labels(browser), row_shown(browser)
        press(browser, str(list(classes).index(y[row]) + 1))
        wait(browser, lambda before=before: n_labels(browser) == before + 1)


@pytest.fixture
def world(tmp_path):
    """Return a server, its desk, and the classes of the rows."""
    X, y = two_groups()
    (tmp_path / "a.png").write_bytes(PIXEL)
    texts = [f"Message {i}: {HOSTILE}" if i % 2 else "long " * 1000 for i in range(200)]
    table = arrow_table(X, message=texts, photo=["a.png", "../b.png"] * 100)
    desk = make_desk(
        tmp_path, X, table=table, image="photo", texts=["message"], classes=["no", "yes"],
        max_error=0.2,
    )  # fmt: skip
    with served(desk, tmp_path) as server:
        yield server.address, desk, y


def test_a_person_labels_with_the_keyboard(browser, world):
    address, desk, y = world
    show(browser, address)
    answer_by_keys(browser, y, 12)
    assert len(desk.session.labels) == 12
    assert all(str(said) == y[row] for row, said in desk.session.labels.items())
    # Undo by both keys: the rows come back.
    rows = list(desk.session.labels)
    for key, n in (("u", 11), (Keys.CONTROL + "z", 10)):
        press(browser, key)
        wait(browser, lambda n=n: n_labels(browser) == n)
        assert row_shown(browser) == rows[n]
    press(browser, "d")
    wait(browser, lambda: "1 × don’t know" in text(browser, "n-rows"))
    row = row_shown(browser)
    press(browser, "s")
    wait(browser, lambda: row_shown(browser) != row)
    assert [entry.action for entry in desk.journal.entries if entry.action != "use"][-4:] == [
        "undo", "undo", "unknown", "skip",
    ]  # fmt: skip
    # A new class by its name.
    press(browser, "n")
    browser.switch_to.active_element.send_keys("maybe" + Keys.ENTER)
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "#classes button")) == 3)
    assert desk.session.classes == ["no", "yes", "maybe"]
    urls, console = urls_and_errors(browser)
    assert urls
    assert all(url.startswith((address, "about:")) for url in urls)
    # Half of the pictures are outside of the folder, which is said where they would be.
    assert [entry for entry in console if "/image/" not in entry["message"]] == []


def test_cells_are_texts_and_long_ones_are_cut(browser, world):
    address, desk, _ = world
    show(browser, address)
    press(browser, "/")
    browser.switch_to.active_element.send_keys("Message 7:")
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "#found li")) == 1)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait(browser, lambda: row_shown(browser) == 7)
    assert HOSTILE in text(browser, "row")
    assert browser.title != "run"
    assert not browser.find_elements(By.CSS_SELECTOR, "article script")
    wait(browser, lambda: "not below" in text(browser, "row"))
    # Its answer can be given from here, and the question is there again.
    press(browser, "2")
    wait(browser, lambda: desk.answer(7) == {"label": "yes"})
    wait(browser, lambda: "Row 8 is now “yes”" in text(browser, "notice"))
    wait(browser, lambda: row_shown(browser) == desk.session.ask())
    press(browser, "/")
    field = browser.switch_to.active_element
    field.clear()
    field.send_keys("1")
    wait(browser, lambda: "Row 1" in text(browser, "found"))
    field.send_keys(Keys.ENTER)
    wait(browser, lambda: row_shown(browser) == 0)
    assert len(text(browser, "row")) < 2500
    all_of_it = browser.find_element(By.CSS_SELECTOR, ".whole")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", all_of_it)
    all_of_it.click()
    wait(browser, lambda: len(text(browser, "row")) > 4500)
    wait(
        browser, lambda: browser.find_element(By.TAG_NAME, "img").get_property("naturalWidth") == 1
    )
    press(browser, Keys.ESCAPE)
    wait(browser, lambda: row_shown(browser) == desk.session.ask())


def test_classes_that_are_digits_have_their_own_keys(browser, tmp_path):
    X, _ = two_groups()
    desk = make_desk(tmp_path, X, classes=["7", "other", "0"])
    with served(desk, tmp_path) as server:
        show(browser, server.address)
        for n, key in enumerate("710d", 1):
            press(browser, key)
            wait(browser, lambda n=n: len(desk.session.labels) == n)
        press(browser, "g")
        wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "#small-rows b")) == 4)
        names = [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#small-rows b")]
        assert names == ["don’t know", "0", "other", "7"]


def hear_no_news(browser):
    """Let the page hear nothing new from the server until it sends something itself."""
    script = """window.fetch_ = fetch; window.n_polls = 0;
        window.fetch = (path, options) => path.startsWith("state") && ++n_polls
            ? Promise.resolve(new Response(null, {status: 204})) : fetch_(path, options)"""
    browser.execute_script(script)
    wait(browser, lambda: browser.execute_script("return n_polls"))  # no older one is under way


def test_another_window_and_a_full_disk(browser, world):
    address, desk, _ = world
    show(browser, address)
    row = row_shown(browser)
    hear_no_news(browser)
    desk.act(label(row, "no"))
    press(browser, "2")  # before the page knows
    wait(browser, lambda: "another window" in text(browser, "notice"))
    browser.execute_script("window.fetch = fetch_")
    assert desk.answer(row) == {"label": "no"}
    browser.find_element(By.CSS_SELECTOR, "#notice-buttons button").click()
    wait(browser, lambda: desk.answer(row) == {"label": "yes"})

    class FullDisk:
        def __getattr__(self, name):
            return getattr(file, name)

        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    wait(browser, lambda: row_shown(browser) == desk.session.ask())
    row, file = row_shown(browser), desk.journal._file
    desk.journal._file = FullDisk()
    press(browser, "1")
    wait(browser, lambda: "The disk is full" in text(browser, "notice"))
    assert desk.answer(row) is None
    assert row_shown(browser) == row
    desk.journal._file = file
    browser.find_element(By.CSS_SELECTOR, "#notice-buttons button").click()
    wait(browser, lambda: desk.answer(row) == {"label": "no"})


def test_keys_count_for_rows_that_are_shown(browser, world):
    """What is pressed while an answer is saved could be meant for the row before or after."""
    address, desk, y = world
    show(browser, address)
    row, act = row_shown(browser), desk.act
    saving, saved = threading.Event(), threading.Event()

    def slow(wish):
        saving.set()
        assert saved.wait(SECONDS)
        act(wish)

    desk.act = slow
    press(browser, "1")
    assert saving.wait(SECONDS)
    for key in "1212":
        press_at_once(browser, key)
    saved.set()
    wait(browser, lambda: row_shown(browser) != row)
    answer_by_keys(browser, y, 1)
    assert len(desk.session.labels) == 2


def test_old_news_do_not_bring_back_a_row(browser, world):
    """A state that was asked for before an answer arrives after it."""
    address, _, y = world
    show(browser, address)
    row = row_shown(browser)
    browser.execute_script(
        """window.fetch_ = fetch; window.waiting = [];
        window.fetch = async (path, options) => {
          const answer = await fetch_(path.startsWith("state") ? "state" : path, options);
          if (path.startsWith("state")) await new Promise((go) => waiting.push(go));
          return answer;
        }"""
    )
    wait(browser, lambda: browser.execute_script("return waiting.length"))
    answer_by_keys(browser, y, 1)
    browser.execute_async_script("waiting[0](); setTimeout(arguments[0], 200)")
    assert row_shown(browser) != row
    assert n_labels(browser) == 1


def test_files_that_cannot_be_written_are_no_dead_end(browser, world):
    address, desk, y = world
    show(browser, address)
    for _ in range(2):
        browser.find_element(By.ID, "finish").click()
        wait(browser, lambda: text(browser, "end-title") == "Finish?")
        browser.find_element(By.ID, "end-yes").click()
        wait(browser, lambda: text(browser, "end-title").startswith("Writing"))
        desk.resume("The files could not be written: the folder is read-only")
        wait(browser, lambda: not browser.find_element(By.ID, "end").is_displayed())
        assert "read-only" in text(browser, "notice")
    answer_by_keys(browser, y, 1)
    desk.request_finish()
    desk.tell_results([{"name": "pool.labeled.csv", "what": "the file"}])
    wait(browser, lambda: text(browser, "end-title") == "Finished")


def test_a_lost_connection_keeps_the_answer(browser, world):
    address, desk, _ = world
    show(browser, address)
    row = row_shown(browser)
    browser.execute_script("window.fetch_ = fetch; window.fetch = () => Promise.reject(Error())")
    press(browser, "2")
    wait(browser, lambda: "no connection" in text(browser, "notice"))
    assert f"row {row + 1} is kept" in text(browser, "notice")
    assert desk.answer(row) is None
    assert row_shown(browser) == row
    press_at_once(browser, "1")  # is not taken instead
    browser.execute_script("window.fetch = fetch_")
    wait(browser, lambda: desk.answer(row) == {"label": "yes"})
    wait(browser, lambda: row_shown(browser) != row)
    assert len(desk.session.labels) == 1
    assert not browser.find_element(By.ID, "notice").is_displayed()


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_never_scrolls_sideways(browser, world, width):
    address, desk, y = world
    for row in range(30):
        desk.act(label(row, y[row]))
    show(browser, address, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wider = """return [...document.querySelectorAll("body *")].filter(e => !e.closest("svg, dialog")
        && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.execute_script(wider) == []
    small = "return [...document.querySelectorAll('#classes button')].map(b => b.offsetHeight)"
    assert min(browser.execute_script(small)) >= 44  # a thumb


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_light_and_dark(browser, world, scheme):
    address, desk, _ = world
    desk.act(label(1, "yes"))
    show(browser, address, scheme=scheme)
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    for selector, around in (
        ("h1", "body"), ("#pool", "body"), (".values dt", "article"), (".values dd", "article"),
        ("#classes button", "#classes button"), ("#promise-text", "#promise"),
        ("#promise-detail", "#promise"), ("kbd", "kbd"),
    ):  # fmt: skip
        ink = luminance(browser.execute_script(style, selector, "color"))
        paper = luminance(browser.execute_script(style, around, "backgroundColor"))
        assert (paper < 0.1) == (scheme == "dark"), selector
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, selector


def test_names_for_people_who_do_not_see_it(browser, world):
    address, desk, y = world
    for row in range(30):
        desk.act(label(row, y[row]))
    show(browser, address)
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#curve svg"))
    for selector in ("button", "input", "svg", "main", "aside"):
        for element in browser.find_elements(By.CSS_SELECTOR, selector):
            if element.is_displayed():
                assert element.accessible_name, element.get_attribute("outerHTML")[:80]
    press(browser, Keys.TAB)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) != "none"


class Person:
    """Starts the command, opens its page, and kills it."""

    def __init__(self, folder):
        self._arguments = ["label", str(folder / "pool.csv"), "--target", "kind", "--classes",
                           "no,yes", "--max-error", "0.2", "--model", str(folder / "m.bayespoint"),
                           "--no-browser"]  # fmt: skip

    def start(self):
        self.process = subprocess.Popen(
            [*COMMAND, *self._arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            found = re.search(r"http://\S+", line)
            if found:
                return found[0]
        raise AssertionError("no address")

    def end(self, number):
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=120)
        return self.process.returncode, out, errors


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_sixty_labels_with_a_kill_in_between(browser, tmp_path):
    X, y = two_groups(300)
    table = pd.DataFrame(np.round(X, 3), columns=["size", "weight", "age"])
    table.to_csv(tmp_path / "pool.csv", index=False)
    person, path = Person(tmp_path), tmp_path / "pool.journal.csv"
    show(browser, person.start())
    answer_by_keys(browser, y, 25)
    press(browser, "u")
    wait(browser, lambda: n_labels(browser) == 24)
    assert person.end(signal.SIGKILL)[0] == -signal.SIGKILL
    kept = read(path)[1]
    press(browser, "1")
    wait(browser, lambda: "no connection" in text(browser, "notice"))
    address = person.start()
    show(browser, address)
    assert n_labels(browser) == 24
    answer_by_keys(browser, y, 36)
    urls, console = urls_and_errors(browser)
    assert all(url.startswith(address) for url in urls)
    assert console == []
    browser.get("about:blank")  # the window is closed and opened again
    show(browser, address)
    assert n_labels(browser) == 60
    assert read(path)[1][: len(kept)] == kept
    browser.find_element(By.ID, "finish").click()
    browser.find_element(By.ID, "end-yes").click()
    wait(browser, lambda: text(browser, "end-title") == "Finished")
    assert "pool.labeled.csv" in text(browser, "files")
    out, _ = person.process.communicate(timeout=120)
    assert person.process.returncode == 0
    assert out.startswith("60 labels.")
    labeled = pd.read_csv(tmp_path / "pool.labeled.csv")
    known = labeled["kind"].notna()
    assert known.sum() == 60
    assert (labeled["kind"][known] == y[known]).all()
    predicted = pd.read_csv(tmp_path / "pool.predicted.csv")
    assert len(predicted) == 240
    assert (tmp_path / "m.bayespoint").exists()
