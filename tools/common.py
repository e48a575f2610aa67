"""What the maintenance scripts share: paths, messages and the notebooks' environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rankzero.facts.chapters import Chapter

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
CACHE = ROOT / ".cache"
VENDOR = CACHE / "static" / "vendor"
HTML = ROOT / "_build" / "html"


def notebooks(root: Path = ROOT) -> list[Path]:
    """The notebooks of the book, in the order of the chapters: each chapter's page, then what lies deeper."""
    return sorted(
        [*(root / "book").glob("*.ipynb"), *(root / "book" / "deeper").glob("*.ipynb")], key=lambda one: one.stem
    )


def pages_of(chapter: Chapter) -> list[Path]:
    """The notebooks of a chapter: its page, then what lies deeper where there is something."""
    return [path for path in notebooks() if path.stem.startswith(f"{chapter.number:02}-")]


def say(text: str) -> None:
    """Print one line, without buffering."""
    print(text, flush=True)


def fail(text: str) -> int:
    """Print one sentence on standard error; returns the exit status 1."""
    print(text, file=sys.stderr, flush=True)
    return 1


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def no_checkout(root: Path = ROOT) -> str:
    """Why git cannot say which files are the project's, as one sentence; empty where it can."""
    if not shutil.which("git"):
        return "this needs git and a checkout of the project: git is missing"
    asked = subprocess.run(["git", "rev-parse", "--verify", "HEAD"], cwd=root, capture_output=True, text=True)
    return f"this needs a git checkout of the project: {asked.stderr.partition(chr(10))[0]}" if asked.returncode else ""


def kernel_environment() -> dict[str, str]:
    """The environment in which notebooks are executed: cards as in the book, without the user's Jupyter settings."""
    return {
        **os.environ,
        "RANKZERO_BOOK": "1",
        "PYTHONWARNINGS": "error::FutureWarning",
        "PYTHONHASHSEED": "0",
        "OMP_WAIT_POLICY": "PASSIVE",  # a thread that waits for another leaves its core to the page beside it
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(CACHE / "ipython"),
    }
