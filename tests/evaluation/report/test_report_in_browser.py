"""The report in a real browser: Chromium, without a window, from a file."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayespoint import BayesPointClassifier
from bayespoint.evaluation.report import write_report
from browser_helpers import emulate, luminance, urls_and_errors
from report_helpers import Constant

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return reports of an ordinary model, and of a model with texts that try to run as code."""
    folder = tmp_path_factory.mktemp("reports")
    X, y = load_iris(return_X_y=True, as_frame=True)
    noise = np.random.default_rng(0).normal(size=X.shape)
    model = BayesPointClassifier(random_state=0).fit((X + noise)[::2], y[::2])
    test = (X + noise)[1::2]
    write_report(model, test, y[1::2], folder / "plain.html", target="species")
    names = np.array([HOSTILE, "b" * 300, "</script><!--"], dtype=object)
    model = BayesPointClassifier(random_state=0).fit((X + noise)[::2].to_numpy(), names[y[::2]])
    model.classes_ = model.classes_.astype(object)
    table = test.set_axis([HOSTILE, "${x}", "</table>", "wide " * 50], axis=1).to_numpy()
    write_report(
        model, table, names[y[1::2]], folder / "hostile.html", title=HOSTILE, target=HOSTILE,
        train_summary={HOSTILE: HOSTILE}, baselines=False,
    )  # fmt: skip
    _write_large(folder, np.random.default_rng(1))
    return folder


def _write_large(folder, rng):
    """Write reports of 19 classes with 35 columns, and of a rare class with 60 columns."""
    pd = pytest.importorskip("pandas")
    names = np.array([f"phyllosticta-leaf-spot-{i}" for i in range(19)])
    words = np.array(["absent", "above-normal", "upper-surface"])
    X = pd.DataFrame({f"column-{j}": rng.choice(words, 300) for j in range(35)})
    model = Constant(rng.dirichlet(np.full(19, 0.1), 300), names)
    write_report(model, X, rng.choice(names, 300), folder / "many.html")
    X = pd.DataFrame(rng.normal(size=(900, 60)))
    X.columns = [f"a_rather_long_sensor_name_{j}" for j in range(60)]
    score = 0.3 / (1 + np.exp(-rng.normal(size=900)))
    y = np.where(rng.random(900) < score**2 * 3, "yes", "no")
    model = Constant(np.column_stack([1 - score, score]), ["no", "yes"])
    write_report(model, X, y, folder / "wide.html")


def is_network(url):
    return not url.startswith(("file:", "data:", "about:", "chrome:"))


def open_page(browser, path, *, width=1000, scheme="light"):
    """Show a page; return its requests and the console messages."""
    browser.get_log("performance"), browser.get_log("browser")
    emulate(browser, width, scheme)
    browser.get(Path(path).as_uri())
    return urls_and_errors(browser)


@pytest.mark.parametrize("name", ["plain", "hostile", "many", "wide"])
def test_loads_alone_and_without_errors(browser, pages, name):
    urls, console = open_page(browser, pages / f"{name}.html")
    assert urls[0].startswith("file:")  # the log works
    assert not [url for url in urls[1:] if not url.startswith("data:")]
    assert console == []


def test_the_log_of_requests_and_the_policy_work(browser, pages, tmp_path):
    # Negative control: the same page with an external image and a script.
    page = (pages / "plain.html").read_text(encoding="utf-8")
    more = "<img src='http://localhost:9/a.png'><script>document.title = 'run'</script>"
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (tmp_path / "free.html").write_text(free.replace("</body>", more), encoding="utf-8")
    (tmp_path / "bound.html").write_text(page.replace("</body>", more), encoding="utf-8")
    urls, _ = open_page(browser, tmp_path / "free.html")
    assert [url for url in urls if is_network(url)]
    assert browser.title == "run"
    open_page(browser, tmp_path / "bound.html")
    assert browser.title != "run"


def test_texts_of_users_do_not_run(browser, pages):
    open_page(browser, pages / "hostile.html")
    assert browser.title == HOSTILE
    assert not browser.find_elements(By.TAG_NAME, "img")
    assert browser.find_element(By.TAG_NAME, "h1").text == HOSTILE
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 2
    assert HOSTILE[:50] in browser.find_element(By.CSS_SELECTOR, "table.confusion").text


def shown(browser):
    keys = ("shown-threshold", "shown-coverage", "shown-error")
    slider = browser.find_element(By.ID, "threshold")
    return [browser.find_element(By.ID, key).text for key in keys] + [
        slider.get_attribute("aria-valuetext"),
        browser.find_element(By.ID, "place").get_attribute("cx"),
    ]


def test_the_slider_changes_the_numbers(browser, pages):
    open_page(browser, pages / "plain.html")
    slider = browser.find_element(By.ID, "threshold")
    before = shown(browser)
    assert before[1].startswith("75 of 75 rows (100%)")
    slider.send_keys(Keys.ARROW_RIGHT)
    after = shown(browser)
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert after[1].startswith("74 of 75 rows")
    slider.send_keys(Keys.END)
    accepted, errors = (int(shown(browser)[i].split(" ")[0]) for i in (1, 2))
    assert 0 <= errors <= accepted < 74
    slider.send_keys(Keys.HOME)
    assert shown(browser) == before
    browser.execute_script(
        "arguments[0].value = 20; arguments[0].dispatchEvent(new Event('input'))", slider
    )
    assert shown(browser)[1].startswith("55 of 75 rows")
    assert shown(browser)[3].startswith(f"threshold {shown(browser)[0]}: 73.3% of the rows")


def test_the_slider_by_mouse(browser, pages):
    open_page(browser, pages / "plain.html")
    slider, before = browser.find_element(By.ID, "threshold"), shown(browser)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", slider)
    slider.click()  # in the middle of the slider
    assert shown(browser) != before


@pytest.mark.parametrize("name", ["plain", "hostile", "many", "wide"])
@pytest.mark.parametrize("width", [320, 375, 1000])
def test_the_page_never_scrolls_sideways(browser, pages, name, width):
    open_page(browser, pages / f"{name}.html", width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    # Anything wider than the page is in a box that scrolls.
    wider = """return [...document.querySelectorAll("body *")].filter(e => !e.closest(".box, svg")
        && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.execute_script(wider) == []


def test_letters_are_large_enough_on_a_phone(browser, pages):
    open_page(browser, pages / "plain.html", width=375)
    size = "return [...document.querySelectorAll('p, td, th, dd, li')].map(e => parseFloat("
    sizes = browser.execute_script(size + "getComputedStyle(e).fontSize))")
    assert min(sizes) >= 12
    chart = browser.find_element(By.CSS_SELECTOR, "svg.chart")
    # 12 units, scaled with the chart
    assert 12 * chart.rect["width"] / 420 >= 9


def test_keyboard_order(browser, pages):
    open_page(browser, pages / "plain.html", width=375)
    tab = "return [document.activeElement.tagName, document.activeElement.id, "
    tab += "document.activeElement.className, document.activeElement.getBoundingClientRect().top "
    tab += "+ scrollY]"
    stops = []
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        stop = browser.execute_script(tab)
        if stop[0] == "BODY":
            break
        stops.append(stop)
    assert [stop[0] for stop in stops[:9]] == ["A"] * 9  # the contents
    assert "threshold" in [stop[1] for stop in stops]
    assert any(stop[2].startswith("box") for stop in stops)  # tables that scroll
    tops = [stop[3] for stop in stops]
    assert tops == sorted(tops)


def test_boxes_without_anything_to_scroll_are_no_stops(browser, pages):
    open_page(browser, pages / "plain.html", width=1400)
    stops = "return [...document.querySelectorAll('.box')].map(b => [b.tabIndex, "
    stops += "b.scrollWidth > b.clientWidth])"
    assert all((index == 0) == wide for index, wide in browser.execute_script(stops))


@pytest.mark.parametrize("name", ["plain", "many", "wide"])
def test_a_table_that_scrolls_says_so_until_its_end(browser, pages, name):
    open_page(browser, pages / f"{name}.html", width=375)
    state = """return [...document.querySelectorAll(".box")].map(b => [
        b.scrollWidth > b.clientWidth, !b.previousElementSibling.hidden,
        b.classList.contains("more"), b.previousElementSibling.className])"""
    boxes = browser.execute_script(state)
    assert any(wide for wide, *_ in boxes)
    assert not all(wide for wide, *_ in boxes)
    assert all(wide == cue == fades and kind == "cue" for wide, cue, fades, kind in boxes)
    # Wait for two frames: the browser tells about scrolling before it draws.
    end = """const done = arguments[0];
        document.querySelectorAll(".box").forEach(b => { b.scrollLeft = b.scrollWidth; });
        requestAnimationFrame(() => requestAnimationFrame(() => done(1)))"""
    browser.execute_async_script(end)
    assert not any(fades for _, _, fades, _ in browser.execute_script(state))


def test_nineteen_classes_fit_a_screen(browser, pages):
    open_page(browser, pages / "many.html", width=1280)
    box = "return [...document.querySelectorAll('.box')].filter(b => b.querySelector('.confusion'))"
    assert browser.execute_script(box + ".map(b => b.scrollWidth <= b.clientWidth)") == [True]
    open_page(browser, pages / "many.html", width=375)
    assert browser.execute_script(box + ".map(b => b.scrollWidth <= b.clientWidth)") == [False]
    # The names of the rows stay in sight.
    left = box + ".map(b => { b.scrollLeft = 200; return b.querySelector('tbody th')"
    left += ".getBoundingClientRect().left - b.getBoundingClientRect().left })"
    assert browser.execute_script(left) == [0]


def test_curves_side_by_side_and_below_each_other(browser, pages):
    places = "return [...document.querySelectorAll('.charts figure')].map(f => f.offsetLeft)"
    for width, n_places in ((1280, 3), (375, 1)):
        open_page(browser, pages / "wide.html", width=width)
        lefts = browser.execute_script(places)
        assert len(lefts) == 3
        assert len(set(lefts)) == n_places


@pytest.mark.parametrize("width", [320, 375])
def test_intervals_are_in_sight_on_a_phone(browser, pages, width):
    open_page(browser, pages / "plain.html", width=width)
    dots = browser.execute_script(
        "return [...document.querySelectorAll('.errors circle')].map(c => { const r = "
        "c.getBoundingClientRect(), b = c.closest('.box').getBoundingClientRect(); return "
        "[r.left >= b.left, r.right <= b.right, r.width] })"
    )
    assert len(dots) >= 2
    assert all(left and right and size >= 8 for left, right, size in dots)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_light_and_dark(browser, pages, scheme):
    open_page(browser, pages / "plain.html", scheme=scheme)
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    paper = luminance(browser.execute_script(style, "body", "backgroundColor"))
    assert (paper < 0.1) == (scheme == "dark")
    for selector in ("body", "p.soft", "nav a", "thead th", ".verdict.fine"):
        ink = luminance(browser.execute_script(style, selector, "color"))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, selector
    for selector in (".dot", ".bar.other"):
        paint = "fill" if selector == ".dot" else "stroke"
        ink = luminance(browser.execute_script(style, selector, paint))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 3, selector


def test_headings_in_order_and_pictures_named(browser, pages):
    open_page(browser, pages / "plain.html")
    levels = [int(h.tag_name[1]) for h in browser.find_elements(By.CSS_SELECTOR, "h1,h2,h3,h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1
    for picture in browser.find_elements(By.CSS_SELECTOR, "svg"):
        hidden = picture.get_attribute("aria-hidden") == "true"
        assert hidden or picture.get_attribute("role") == "img"
        assert hidden or picture.accessible_name
    slider = browser.find_element(By.ID, "threshold")
    assert slider.accessible_name == "Refuse answers with less confidence than"
    for link in browser.find_elements(By.CSS_SELECTOR, "nav a"):
        assert browser.find_elements(By.CSS_SELECTOR, link.get_attribute("hash"))


def test_without_scripts_all_numbers_are_there(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(browser, pages / "plain.html")
        assert not browser.find_element(By.ID, "threshold").is_displayed()
        assert "Some thresholds" in browser.find_element(By.TAG_NAME, "body").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_prints(browser, pages):
    open_page(browser, pages / "plain.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not browser.find_element(By.ID, "threshold").is_displayed()
        assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
        assert browser.find_element(By.CSS_SELECTOR, "svg.chart").is_displayed()
        cue = "return [...document.querySelectorAll('.cue')].some(c => c.offsetHeight > 0)"
        assert not browser.execute_script(cue)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("name", ["plain", "many", "wide"])
def test_tables_fit_on_paper(browser, pages, name):
    # A4 without margins is 180 mm wide: 680 pixels. Emulated media do not change the layout width.
    open_page(browser, pages / f"{name}.html", width=680)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        wide = "return [...document.querySelectorAll('table')].filter(t => t.offsetWidth > "
        wide += "document.documentElement.clientWidth).map(t => t.className)"
        assert browser.execute_script(wide) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
