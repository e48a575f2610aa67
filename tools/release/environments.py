"""Fresh environments of Python: what Colab ships of what the course needs, the wheel, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.common import ROOT
from tools.release import wheel
from tools.release.wheel import Broken

#: The oldest Python that the course runs on, and the newest one that it is tried on, which is Colab's.
OLDEST, NEWEST = "3.11", "3.13"
#: The versions of Colab's image.
COLAB = Path(__file__).with_name("colab.txt")
#: What Colab has before a page is opened: a kernel, controls, and charts' last resort (``rankzero/explore/vega.py``).
FRONT_END = ("ipykernel", "ipywidgets", "altair")
#: What is said where something needs torch and there is none.
LACKING = "this environment has no torch"
#: Stands in for torch where there is none to be had: whatever asks for more than its version says so.
NO_TORCH = '''"""There is no torch here: what is run must not need it."""
__version__ = "{version}"


def __getattr__(name):
    raise ImportError(f"torch.{{name}} was needed, and {lacking}")
'''


@dataclass(frozen=True)
class Interpreter:
    """A Python: its version, its program, and whether torch without CUDA is to be had for it."""

    version: str
    program: Path
    torch: bool


def program(version: str) -> Path | None:
    """The program of a Python: this one, one on the path, or one that uv has installed; None if there is none."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return Path(sys.executable)
    if there := shutil.which(f"python{version}"):
        return Path(there)
    if uv := shutil.which("uv"):
        asked = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        return Path(asked.stdout.strip()) if asked.returncode == 0 else None
    return None


def pinned_torch() -> str:
    """The version of torch with which the course is tested, without CUDA: on Linux that is a version of its own."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = next(line for line in lines if line.startswith("torch=="))
    return f"{pinned}+cpu" if sys.platform == "linux" else pinned


def has_torch(python: Path) -> bool:
    """Whether pip finds that torch for a Python, with the indexes that it is set to ask."""
    try:
        wheel.pip(python, "install", "--dry-run", "--ignore-installed", "--no-deps", pinned_torch())
    except Broken:
        return False
    return True


def make(interpreter: Interpreter, extra: str, built: Path, folder: Path) -> Path:
    """Make an environment with the wheel and one of its extras, or none (``""``); returns its Python.

    An environment that was made before from the same wheel is taken again.

    Raises:
        Broken: something cannot be installed, or does not fit together.
    """
    python = folder / "bin" / "python"
    done = folder / "complete"
    if done.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    created = [str(interpreter.program), "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(created, check=True, capture_output=True)
    limits = ("--constraint", str(COLAB))
    if interpreter.torch:
        what = f"rankzero[{extra}] @ {built.as_uri()}" if extra else str(built)
        wheel.pip(python, "install", *limits, *FRONT_END, what, pinned_torch())
    else:
        needs = [need for need in wheel.requirements(built, extra) if not need.startswith("torch")]
        wheel.pip(python, "install", *limits, *FRONT_END, *needs)
        wheel.pip(python, "install", "--no-deps", str(built))
        without_torch(python)
    wheel.pip(python, "check")
    done.touch()
    return python


def stand_in(version: str) -> str:
    """A module that stands in for torch."""
    return NO_TORCH.format(version=version, lacking=LACKING)


def without_torch(python: Path) -> None:
    """Put what stands in for torch into an environment."""
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    version = pinned_torch().partition("==")[2].partition("+")[0]
    (site / "torch.py").write_text(stand_in(version), encoding="utf-8")
    about = site / f"torch-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n", encoding="utf-8")


def settings(home: Path) -> dict[str, str]:
    """The variables of a learner who has just come: a home of her own, and nothing that leads to a checkout."""
    gone = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "RANKZERO_BOOK", "JUPYTER_PATH")
    kept = {name: value for name, value in os.environ.items() if name not in gone and not name.startswith("XDG_")}
    quiet = {"PYTHONHASHSEED": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    return {**kept, **quiet, "HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
