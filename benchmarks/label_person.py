"""A scripted person who answers on the page of `bayespoint label`, over HTTP.

    bayespoint label pool.csv --target kind --max-error 0.05 2> said.txt &
    python benchmarks/label_person.py said.txt truth.csv [--answers N] [--leave]

Waits until said.txt has the address of the page, answers with the last column of truth.csv, which
has the rows of the pool, and finishes as soon as the promise holds, or after N answers. With
--leave it only goes away.
"""

import argparse
import json
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import pandas as pd

START_SECONDS = 120


def find_address(said: Path) -> str:
    """Wait for the address that the command prints."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        found = re.search(r"http://\S+", said.read_text() if said.exists() else "")
        if found:
            return found[0]
        time.sleep(0.1)
    raise SystemExit(f"{said} has no address after {START_SECONDS} s.")


class Person:
    """Somebody who knows the class of each row.

    Parameters
    ----------
    address : str
        Of the page.
    truth : sequence of str
        The class of each row.
    """

    def __init__(self, address: str, truth: Any):
        self._address, self._truth = address, list(map(str, truth))
        with urllib.request.urlopen(address + "state") as answer:
            self.state = json.load(answer)

    def post(self, path: str, content: dict[str, Any]) -> None:
        """Send something as the page does."""
        headers = {
            "Content-Type": "application/json",
            "X-Bayespoint-Token": self._address.rstrip("/").rpartition("/")[2],
        }
        data = json.dumps(content).encode()
        wanted = urllib.request.Request(self._address + path, data, headers)
        with urllib.request.urlopen(wanted) as answer:
            self.state = json.load(answer)

    @property
    def expected(self) -> str:
        """The right answer to the question."""
        return self._truth[self.state["question"]["row"]]

    def answer(self, label: str | None = None) -> None:
        """Answer the question, rightly unless another label is given."""
        row, label = self.state["question"]["row"], label or self.expected
        self.post("act", {"action": "label", "row": row, "label": label, "before": None})

    def answer_until(self, n_answers: int | None) -> int:
        """Answer so many questions, or until the promise holds; return how many there were."""
        n = 0
        while self.state["question"] is not None and n != n_answers:
            if n_answers is None and self.state["certificate"]["holds"]:
                break
            self.answer()
            n += 1
        return n


def main() -> None:
    """Answer the questions of a running command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("said", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--answers", type=int)
    parser.add_argument("--leave", action="store_true")
    options = parser.parse_args()
    truth = pd.read_csv(options.truth, dtype=str).iloc[:, -1]
    person = Person(find_address(options.said), truth)
    person.answer_until(options.answers)
    if not options.leave:
        person.post("finish", {})


if __name__ == "__main__":
    main()
