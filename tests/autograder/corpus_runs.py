"""The hostile corpus as different users, with each layer left out, and in Gradescope's container.

    python tests/autograder/corpus_runs.py                 all of it, every file in every configuration (hours)
    python tests/autograder/corpus_runs.py --only torch    configurations whose name holds a word (may be given again)

One line for each configuration; exit status 1 when one of them found something. The tests run a part of this.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

LAYERS = ("seccomp", "landlock", "bubblewrap", "uid", "cgroups")
#: A user that owns nothing here.
NOBODY = 64321
#: Seconds after which a run of the corpus hangs.
HANGS = 900
#: Where Debian's Python looks for packages that Debian did not bring.
PACKAGES = f"/usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}/dist-packages"


def without(layer: str) -> list[str]:
    """The options that leave a layer out; a user of its own is in use only where bubblewrap is not."""
    return ["--without", layer, *(["--without", "bubblewrap"] if layer == "uid" else [])]


def here(options: Sequence[str], seconds: float = HANGS) -> dict[str, Any]:
    """The report of ``corpus.py`` with these options, as this user."""
    with tempfile.TemporaryDirectory(prefix="corpus-out-") as folder:
        out = Path(folder, "out.json")
        argv = [sys.executable, "-B", str(HERE / "corpus.py"), "--json", str(out), *options]
        return _found(subprocess.run(argv, capture_output=True, text=True, timeout=seconds, check=False), out)


def _found(done: subprocess.CompletedProcess[str], out: Path) -> dict[str, Any]:
    """What a run has found; a run that found nothing ends with status 0."""
    if not out.exists():
        raise AssertionError(f"the corpus did not run (exit status {done.returncode}): {done.stdout}{done.stderr}")
    report = json.loads(out.read_text())
    assert bool(report["faults"]) == bool(done.returncode), done.stdout + done.stderr
    return report


# As an ordinary user


def readable_python() -> str | None:
    """A Python of 3.11 or later that any user can start."""
    for path in ("/usr/bin/python3", "/usr/local/bin/python3"):
        code = "import sys, ctypes; sys.exit(sys.version_info < (3, 11))"
        if os.path.exists(path) and subprocess.run([path, "-c", code], user=NOBODY, check=False).returncode == 0:
            return path
    return None


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """The grader and the corpus in a folder that any user can read, and ``out``, which any can write."""
    folder = Path(tempfile.mkdtemp(prefix="corpus-copy-"))
    try:
        for part in ("autograder", "rankzero", "tests/autograder/hostile"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("corpus.py", "corpus_items.py"):
            shutil.copy(HERE / part, folder / "tests/autograder")
        (folder / "out").mkdir()
        subprocess.run(["chmod", "-R", "go+rX", str(folder)], check=True)
        (folder / "out").chmod(0o777)
        yield folder
    finally:
        shutil.rmtree(folder)


def as_nobody(options: Sequence[str], seconds: float = HANGS) -> dict[str, Any]:
    """The report of ``corpus.py`` as a user that owns nothing here; it sees the packages of this environment."""
    with copied() as folder:
        corpus = folder / "tests/autograder/corpus.py"
        argv = [str(readable_python()), "-B", str(corpus), "--json", str(folder / "out/out.json"), *options]
        env = {"PATH": os.defpath, "HOME": str(folder / "out"), "PYTHONPATH": sysconfig.get_path("purelib")}
        who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, **who)
        return _found(done, folder / "out/out.json")


# In a container


def in_container(image: Any, folder: Path, options: Sequence[str], seconds: float = HANGS) -> dict[str, Any]:
    """The report of ``corpus.py`` on the image's own copy of the grader; ``folder`` takes a copy of the image."""
    inside = folder / "autograder"
    shutil.copytree(image.folder, inside)
    beside = inside / "source" / "tests" / "autograder"
    shutil.copytree(HERE / "hostile", beside / "hostile")
    # What the items of the corpus take from the course.
    shutil.copytree(ROOT / "autograder/probes", inside / "source/autograder/probes", dirs_exist_ok=True)
    (inside / "source/autograder/bank/ch15").mkdir(exist_ok=True)
    for file in ("__init__.py", "debug_atomic.py"):
        shutil.copy(ROOT / "autograder/bank/ch15" / file, inside / "source/autograder/bank/ch15")
    for file in ("corpus.py", "corpus_items.py"):
        shutil.copy(HERE / file, beside)
    script = "chmod 0700 source && exec /usr/bin/python3 -B source/tests/autograder/corpus.py --json found.json"
    command = f"cd /autograder && {script} {shlex.join(options)}"
    done = image.inside("sh", "-c", command, folder=inside, seconds=seconds)
    return _found(done, inside / "found.json")


def same_python() -> bool:
    """Whether packages of this environment can be imported by the Python that the container has."""
    code = "import sys; print(*sys.version_info[:2])"
    said = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False).stdout
    return said.split() == [str(part) for part in sys.version_info[:2]]


def image_with_torch(folder: Path, size: Any) -> Any:
    """An image that sees the packages of this environment where the container's Python looks for them."""
    from gradescope_image import Image

    from autograder import bank
    from autograder.gradescope import bundle as gradescope

    libraries = folder / "lib"
    path = libraries / Path(PACKAGES).relative_to("/usr/local/lib")
    path.mkdir(parents=True)
    for made in (folder, libraries, path.parent, path):
        made.chmod(0o755)
    shown = {"/usr/local/lib": libraries, PACKAGES: sysconfig.get_path("purelib")}
    return Image(gradescope.archive([bank.find("01-locate")], b"key"), folder / "image", size=size, shown=shown)


def _container(options: Sequence[str]) -> dict[str, Any]:
    import container

    with tempfile.TemporaryDirectory(prefix="corpus-image-") as folder:
        image = image_with_torch(Path(folder, "built"), container.Size(processors=2.0, memory=8 * 10**9))
        return in_container(image, Path(folder), options, seconds=3600)


# All of it


def everything() -> dict[str, tuple[Any, list[str]]]:
    """Every configuration: its name, who runs it, and the options."""
    files = {"plain": ["--plain"], "torch": ["--heavy"]}
    layers = {"every layer": [], **{f"without {name}": without(name) for name in LAYERS}, "none": ["--sandbox", "none"]}
    users = {"root": here} | ({"ordinary user": as_nobody} if readable_python() and not os.getuid() else {})
    if os.getuid():
        users = {"this user": here}
    runs: dict[str, tuple[Any, list[str]]] = {}
    for kind, chosen in files.items():
        for user, run in users.items():
            runs |= {f"{user}, {name}, {kind}": (run, [*chosen, *options]) for name, options in layers.items()}
        if not os.getuid():
            runs[f"container, {kind}"] = (_container, chosen)
    return runs


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--only", action="append", default=[], help="a word in the configuration's name")
    asked = parser.parse_args(argv)
    chosen = {name: how for name, how in everything().items() if all(word in name for word in asked.only)}
    if not chosen:
        parser.error(f"no configuration has {' and '.join(asked.only)} in its name: {'; '.join(everything())}")
    found = 0
    for name, (run, options) in chosen.items():
        report = run(options) if run is _container else run(options, seconds=3600)
        count = f"{len(report['verdicts'])} files, {len(report['left_out'])} left out, {report['seconds']:.0f} s"
        print(f"{name}: {count}", *report["faults"], sep="\n  ", flush=True)
        found += len(report["faults"])
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
