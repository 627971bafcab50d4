"""Keep compiled loops between test runs and share them between test processes.

numba caches a loop by the path and the content of its file. That is not enough here: a new
clone or environment has another path, and a loop also depends on the files that it imports.
So the cache is in a folder of the user, whose name is a hash of all compiled files.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
import time
from pathlib import Path

# Loops of other versions, a few megabytes each, are kept this long after their last use.
MAX_UNUSED_SECONDS = 30 * 24 * 3600


def use() -> None:
    """Let numba, here and in child processes, cache compiled loops in a permanent folder."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayespoint-tests"
    package = importlib.util.find_spec("bayespoint")
    sources = Path(os.path.abspath(package.origin)).parent / "_jit"
    folder = root / version(sources)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return  # numba then writes into __pycache__
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    share(folder, sources)
    for other in root.iterdir():
        if time.time() - other.stat().st_mtime > MAX_UNUSED_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


def version(sources: Path) -> str:
    """Return a hash of everything a compiled loop depends on, except the processor."""
    digest = hashlib.sha256(f"{sys.version} {importlib.metadata.version('numba')}".encode())
    for file in sorted(sources.rglob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def share(folder: Path, sources: Path) -> None:
    """Give all paths that hold the same sources the same subfolder."""
    # The name that numba uses. If it changes, each path has its own subfolder: slower, but correct.
    name = f"{sources.name}_{hashlib.sha1(str(sources).encode()).hexdigest()}"
    (folder / "shared").mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # the link exists, or links are not allowed
        (folder / name).symlink_to("shared", target_is_directory=True)
