"""Take pictures of pages of the built site, and tell what they load from outside: nothing.

    python docs/screenshots.py SITE FOLDER [PAGE ...]

Pages are shown at 1280 and 375 pixels, light and dark, by Chromium and chromedriver on the path.
Exit code 1 if a page asks for anything but files, has an error, or is wider than its window, or
if a line of Python is cut off at the larger width.
"""

# ruff: noqa: T201

import json
import shutil
import sys
from pathlib import Path

from selenium import webdriver

PAGES = [
    "index",
    "start",
    "theory",
    "which_machine",
    "gallery/index",
    "reference/bayespoint.BayesPointClassifier",
    "benchmarks",
]
WIDTHS, MAX_HEIGHT = (1280, 375), 5000
# The text scrolls sideways inside the page if a word is too long for it.
NEEDED = """
const page = document.documentElement, text = document.querySelector(".bd-article-container");
return Math.max(page.scrollWidth, text ? innerWidth + text.scrollWidth - text.clientWidth : 0);
"""


# What people write has at most 100 characters. What programs print may be longer.
CUT_OFF = """
const blocks = document.querySelectorAll(":is(.highlight-python, .highlight-Python, .doctest) pre");
return [...blocks].filter(block => block.scrollWidth > block.clientWidth).length;
"""


def open_browser():
    """Return a browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "SEVERE"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def show(browser, address, width, theme):
    """Open a page at a width, in light or dark colors; return the width that it takes."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    height = browser.execute_script("return document.documentElement.scrollHeight")
    size["height"] = min(height, MAX_HEIGHT)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return browser.execute_script(NEEDED)


def problems(browser):
    """Yield requests that left the disk, and errors of the console."""
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "chrome:", "blob:")):
                yield f"asks for {url}"
    for entry in browser.get_log("browser"):
        yield entry["message"]


def main(site, folder, pages):
    """Write a picture of each page, width and theme; return the number of problems."""
    folder.mkdir(parents=True, exist_ok=True)
    browser, n_problems = open_browser(), 0
    try:
        for page in pages:
            address = (site / f"{page}.html").resolve().as_uri()
            for width in WIDTHS:
                for theme in ("light", "dark"):
                    needed = show(browser, address, width, theme)
                    found = list(problems(browser))
                    if needed > width:
                        found.append(f"is {needed} pixels wide")
                    if width == max(WIDTHS) and (n_cut := browser.execute_script(CUT_OFF)):
                        found.append(f"cuts off code in {n_cut} blocks")
                    for message in found:
                        print(f"{page}, {width} pixels, {theme}: {message}")
                    n_problems += len(found)
                    name = f"{page.replace('/', '_')}_{width}_{theme}.png"
                    browser.save_screenshot(str(folder / name))
    finally:
        browser.quit()
    return n_problems


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(bool(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or PAGES)))
