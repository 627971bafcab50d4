import os
import sys

import pytest

from bayespoint.cli import closed_streams


@pytest.fixture
def without_input():
    """Close the standard input of this process, and restore it."""
    kept, stream = os.dup(0), sys.stdin
    os.close(0)
    sys.stdin = None
    yield
    sys.stdin = stream
    os.dup2(kept, 0)
    os.close(kept)
    closed_streams.closed_streams.clear()


@pytest.mark.skipif(sys.platform == "win32", reason="numbers of files are POSIX")
def test_what_is_closed_leads_to_nowhere(without_input):
    closed_streams.open_closed_streams()
    assert closed_streams.closed_streams == {"stdin"}
    assert sys.stdin.read() == ""
    assert os.get_inheritable(0)
    assert os.path.samestat(os.fstat(0), os.stat(os.devnull))


def test_what_is_open_stays():
    before = sys.stdin, sys.stdout, sys.stderr
    closed_streams.open_closed_streams()
    assert (sys.stdin, sys.stdout, sys.stderr) == before
    assert closed_streams.closed_streams == set()
