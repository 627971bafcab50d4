"""What tests of pages ask of a real browser."""

import json
import re

import numpy as np


def emulate(browser, width, scheme):
    """Set the width of the window, and light or dark colors."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def urls_and_errors(browser):
    """Return the addresses that were requested, and the messages of the console."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    # A browser that has just started may still load its own pages.
    return [u for u in urls if not u.startswith("chrome:")], browser.get_log("browser")


def luminance(color):
    """Return the relative luminance of WCAG 2."""
    values = np.array([float(v) for v in re.findall(r"[\d.]+", color)[:3]]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
