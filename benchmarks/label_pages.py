"""The page of `bayespoint label` to look at: three pools, a scripted person, and pictures.

    python benchmarks/label_pages.py FOLDER [--pool NAME] [--docs docs/pictures]

Needs Chromium and chromedriver on the path. Writes pools into FOLDER (tumors: numbers, digits:
pictures, messages: texts), labels them, and takes pictures at the start, in the middle, with the
promise, of the dialogs and of the end; at 1280 and 375 pixels, light and dark. --docs copies those
that docs/labeling.md shows.
"""

import argparse
import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from label_person import Person, find_address
from matplotlib.image import imsave
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_breast_cancer, load_digits

SIZES = {"desktop": (1280, 800), "phone": (375, 812)}
SECONDS = 60
# Pool: options of the command, and answers until the picture of the middle.
POOLS = {
    "tumors": (["--target", "diagnosis", "--classes", "benign,malignant"], 24),
    "digits": (["--target", "digit", "--image", "picture"], 40),
    "messages": (["--target", "topic", "--text", "message"], 12),
}
IN_DOCS = {
    "tumors_screen_desktop_light": "label_table",
    "digits_screen_desktop_dark": "label_images",
    "messages_screen_phone_light": "label_phone",
}
MESSAGES = {
    "invoice": "Hello, {x} of {y} is still open. Could you transfer it {z}, please?",
    "delivery": "The parcel with {x} has not arrived in {y}, although it should have come {z}.",
    "praise": "Thank you so much for {x}! Everybody in {y} loved it {z}, and we will be back.",
}
WORDS = {
    "x": ["the red lamp", "our order", "invoice 2291", "the garden chair", "a pair of boots"],
    "y": ["Lisbon", "our office", "the new house", "March", "the workshop"],
    "z": ["on Friday", "last week", "tomorrow", "in the morning", "before the holidays"],
}


def tumors(folder: Path) -> np.ndarray:
    """Write a pool of 30 numbers a row; return the classes of its rows."""
    data = load_breast_cancer(as_frame=True)
    data.data.to_csv(folder / "tumors.csv", index=False)
    return data.target_names[data.target]


def digits(folder: Path) -> np.ndarray:
    """Write a pool of pictures with their gray values."""
    data = load_digits(as_frame=True)
    n = 600
    (folder / "pictures").mkdir(exist_ok=True)
    names = [f"pictures/{i:03}.png" for i in range(n)]
    for name, image in zip(names, data.images, strict=False):
        imsave(folder / name, 16 - image, cmap="gray")
    data.data[:n].assign(picture=names).to_csv(folder / "digits.csv", index=False)
    return data.target[:n].to_numpy()


def messages(folder: Path) -> np.ndarray:
    """Write a pool of short texts of three topics."""
    rng = np.random.default_rng(0)
    topics = rng.choice(list(MESSAGES), 300)
    texts = [
        MESSAGES[topic].format(**{name: rng.choice(words) for name, words in WORDS.items()})
        for topic in topics
    ]
    pd.DataFrame({"message": texts}).to_csv(folder / "messages.csv", index=False)
    return topics


@contextmanager
def labeling(folder: Path, name: str, options: list[str]) -> Iterator[str]:
    """Run the command from its first question on; give the address of its page."""
    for old in folder.glob(f"{name}.journal.csv"):
        old.unlink()
    said = folder / f"{name}.said.txt"
    line = [sys.executable, "-m", "bayespoint", "label", str(folder / f"{name}.csv"), *options]
    line += [
        "--seed",
        "0",
        "--max-error",
        "0.1",
        "--model",
        str(folder / f"{name}.bayespoint"),
        "--no-browser",
    ]
    with said.open("w") as file:
        process = subprocess.Popen(line, stdout=file, stderr=file)
    try:
        yield find_address(said)
        process.wait(SECONDS)
    finally:
        process.kill()


@contextmanager
def chromium() -> Iterator[Any]:
    """Give Chromium without a window."""
    options = webdriver.ChromeOptions()
    for name in ("chromium", "chromium-browser", "google-chrome"):
        options.binary_location = options.binary_location or shutil.which(name) or ""
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(option)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class Camera:
    """Takes pictures of a page in all sizes and colors.

    Parameters
    ----------
    browser : WebDriver
        Chromium.
    folder : Path
        For the pictures.
    """

    def __init__(self, browser: Any, folder: Path):
        self._browser, self._folder = browser, folder

    def wait(self, condition: Any) -> None:
        """Wait until the page is in a state."""
        WebDriverWait(self._browser, SECONDS, 0.05).until(lambda _: condition())

    def text(self, name: str) -> str:
        """Return the text of an element."""
        return self._browser.find_element(By.ID, name).text

    def open(self, address: str) -> None:
        """Show the page with its newest state."""
        self._browser.get(address)
        self.wait(lambda: self.text("place").startswith(("Row", "Done")))

    def look(self, name: str, *, whole: bool = True) -> None:
        """Take a picture in each size and in each color."""
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                self._emulate(width, height, scheme)
                if whole:
                    script = "return document.documentElement.scrollHeight"
                    height = max(height, self._browser.execute_script(script))
                    self._emulate(width, height, scheme)
                found = self._browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
                path = self._folder / f"{name}_{size}_{scheme}.png"
                path.write_bytes(base64.b64decode(found["data"]))
        self._emulate(*SIZES["desktop"], "light")

    def _emulate(self, width: int, height: int, scheme: str) -> None:
        touch = {"enabled": width < 500}
        self._browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def press(self, key: str) -> None:
        """Press a key."""
        self._browser.find_element(By.TAG_NAME, "body").send_keys(key)

    def click(self, name: str) -> None:
        """Click on an element."""
        self._browser.find_element(By.ID, name).click()

    def type(self, text: str) -> None:
        """Type into the field that has the focus."""
        self._browser.switch_to.active_element.send_keys(text)

    def close_dialogs(self) -> None:
        """Close all dialogs."""
        script = "for (const d of document.querySelectorAll('dialog[open]')) d.close()"
        self._browser.execute_script(script)


def take_pictures(camera: Camera, address: str, name: str, truth: Any, n_middle: int) -> None:
    """Label a pool, and take pictures on the way."""
    person = Person(address, truth)
    camera.open(address)
    camera.look(f"{name}_start")
    person.answer_until(n_middle)
    wrong = next(str(label) for label in truth if str(label) != person.expected)
    person.answer(wrong)  # to be found among the suspects
    row = person.state["question"]["row"]
    person.post("act", {"action": "unknown", "row": row, "before": None})
    camera.open(address)
    camera.look(f"{name}_middle")
    camera.press("g")
    camera.wait(lambda: camera.text("small-rows"))
    camera.look(f"{name}_grid", whole=False)
    camera.close_dialogs()
    camera.press("/")
    camera.type("1")
    camera.wait(lambda: camera.text("found"))
    camera.look(f"{name}_search", whole=False)
    camera.close_dialogs()
    camera.press("?")
    camera.look(f"{name}_keys", whole=False)
    camera.close_dialogs()
    person.answer_until(None)
    camera.open(address)
    camera.look(f"{name}_promise")
    camera.look(f"{name}_screen", whole=False)
    camera.click("finish")
    camera.look(f"{name}_finish", whole=False)
    camera.click("end-yes")
    camera.wait(lambda: camera.text("end-title") == "Finished")
    camera.look(f"{name}_end", whole=False)


def main() -> None:
    """Make the pools and their pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pool", choices=list(POOLS), action="append")
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        camera = Camera(browser, options.folder)
        for make in (tumors, digits, messages):
            name = make.__name__
            if options.pool and name not in options.pool:
                continue
            command, n_middle = POOLS[name]
            truth = make(options.folder)
            with labeling(options.folder, name, command) as address:
                take_pictures(camera, address, name, truth, n_middle)
    for name, shown in IN_DOCS.items() if options.docs else ():
        shutil.copy(options.folder / f"{name}.png", options.docs / f"{shown}.png")


if __name__ == "__main__":
    main()
