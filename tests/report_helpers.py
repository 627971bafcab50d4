"""A reader of HTML pages, and classifiers with fixed answers."""

import re
from html.parser import HTMLParser

import numpy as np


class Page(HTMLParser):
    """Text, tags and attributes of a page; fails if an element is not closed."""

    EMPTY = ("meta", "link", "input", "br")

    def __init__(self, source):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.words.append(data)


class Constant:
    """A classifier with fixed probabilities, from the first row on again if there are more rows."""

    def __init__(self, probability, classes):
        self.probability, self.classes_ = np.asarray(probability), np.asarray(classes)

    def predict_proba(self, X):
        n_rows = len(self.probability) if X is None else X.shape[0]
        return self.probability[np.arange(n_rows) % len(self.probability)]


class Reject(Constant):
    """The attributes of a reject option that a report reads."""

    def __init__(self, probability, classes, threshold, **attributes):
        super().__init__(probability, classes)
        self.threshold_, self.confidence_level = threshold, 0.9
        self.reject_rate = self.max_error = None
        self.__dict__.update(attributes)

    def accept(self, X):
        return self.probability.max(axis=1) >= self.threshold_
