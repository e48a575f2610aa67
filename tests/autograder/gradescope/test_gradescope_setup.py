"""``setup.sh``, run once when Gradescope builds its image: it finds or installs a Python, and torch where needed."""

from __future__ import annotations

import json
from pathlib import Path

import container
import pytest
from gradescope_image import unpacked

from autograder import bank
from autograder.gradescope import bundle as gradescope

pytestmark = [pytest.mark.bwrap, pytest.mark.xdist_group("container"), pytest.mark.proof(part="classes")]
if container.unavailable():
    pytest.skip(f"no container here: {container.unavailable()}", allow_module_level=True)

OLD = "#!/bin/sh\nexit 1\n"
APT = """#!/bin/sh
echo "$@" >> /tmp/apt
case "$*" in
    *OFFERED*) printf '#!/bin/sh\\n' > /usr/local/bin/OFFERED && chmod +x /usr/local/bin/OFFERED ;;
    *) exit 100 ;;
esac
"""


def old_pythons(folder: Path) -> dict[str, Path]:
    """What to show in a container for all its Pythons to be too old."""
    old = folder / "old"
    old.write_text(OLD)
    old.chmod(0o755)
    return dict.fromkeys(map(str, Path("/usr/bin").glob("python3.*[0-9]")), old)


def set_up(tmp_path: Path, offers: str) -> container.subprocess.CompletedProcess[str]:
    """``setup.sh`` in an image whose Python is too old and whose apt offers one package."""
    apt, source = tmp_path / "apt", tmp_path / "autograder" / "source"
    source.mkdir(parents=True)
    for path, text in (
        (apt, APT.replace("OFFERED", offers)),
        (source / "setup.sh", gradescope.setup()),
        (source / "python.sh", gradescope.PYTHON),
    ):
        path.write_text(text)
        path.chmod(0o755)
    command = "bash /autograder/source/setup.sh; echo status $?; cat /tmp/apt"
    shown = {**old_pythons(tmp_path), "/usr/bin/apt-get": apt}
    return container.run(["sh", "-c", command], {"/autograder": source.parent}, shown)


def test_an_old_image_gets_a_newer_python(tmp_path):
    done = set_up(tmp_path, "python3.12")
    assert done.stdout == "status 0\ninstall -y python3.13\ninstall -y python3.12\n", done.stderr


def test_an_image_without_any_says_so_in_one_sentence(tmp_path):
    done = set_up(tmp_path, "nothing")
    assert done.stdout.startswith("status 1\n")
    sentence = (
        "setup: grading needs Python 3.11 or later, which apt cannot install here: choose Ubuntu 22.04 or later\n"
    )
    assert done.stderr == sentence


#: A Python whose virtual environments hold a pip that writes down what it is asked; the first FAILURES cannot be made.
PYTHON = """#!/bin/sh
case "$*" in
    *"-m venv"*)
        echo venv >> /tmp/tries
        [ $(wc -l < /tmp/tries) -gt FAILURES ] || exit 1
        mkdir -p /opt/rankzero/bin
        printf '#!/bin/sh\\necho "$@" >> /tmp/pip\\nexit STATUS\\n' > /opt/rankzero/bin/pip
        chmod +x /opt/rankzero/bin/pip
        ;;
    *) exec /usr/bin/python3 "$@" ;;
esac
"""


PINS = ["torch==2.13.0", "numpy==2.4.6"]
PIP = f"install --quiet --no-cache-dir {' '.join(PINS)}\n"


@pytest.mark.parametrize(
    ("failures", "status", "said", "wrong"),
    [
        (0, 0, "status 0\n" + PIP, ""),
        (1, 0, "status 0\n" + PIP + "install -y python3-venv PY-venv\n", ""),
        (2, 0, "status 1\ninstall -y python3-venv PY-venv\n", "setup: PY cannot create a virtual environment here\n"),
        (0, 1, "status 1\n" + PIP, f"setup: pip cannot install {' '.join(PINS)}\n"),
    ],
    ids=("at once", "after apt", "never", "no pip"),
)
def test_torch_is_installed_as_it_is_pinned(tmp_path, failures, status, said, wrong):
    """Kills a set-up that ends well without torch: every submission would then fail."""
    source, python, apt = tmp_path / "source", tmp_path / "python", tmp_path / "apt"
    source.mkdir()
    (source / "setup.sh").write_text(gradescope.setup(PINS))
    (source / "python.sh").write_text(gradescope.PYTHON)
    python.write_text(PYTHON.replace("FAILURES", str(failures)).replace("STATUS", str(status)))
    apt.write_text(APT)
    for path in (python, apt):
        path.chmod(0o755)
    command = "bash /autograder/source/setup.sh; echo status $?; cat /tmp/pip /tmp/apt 2>/dev/null"
    shown = {"/usr/local/bin/python3": python, "/usr/bin/apt-get": apt}
    done = container.run(["sh", "-c", command], {"/autograder": tmp_path}, shown)
    name = container.run(["/usr/bin/python3", "-c", "import sys; print('python%d.%d' % sys.version_info[:2])"])
    assert done.stdout == said.replace("PY", name.stdout.strip())
    assert done.stderr == wrong.replace("PY", name.stdout.strip())


def test_a_container_without_python_still_has_a_result(tmp_path):
    for name in ("source", "submission", "results"):
        (tmp_path / "autograder" / name).mkdir(parents=True)
    unpacked(gradescope.archive([bank.find("01-locate")], b"key"), tmp_path / "autograder" / "source")
    command = "sh /autograder/source/run_autograder; echo $?; cat /autograder/results/results.json"
    done = container.run(["sh", "-c", command], {"/autograder": tmp_path / "autograder"}, old_pythons(tmp_path))
    assert "there is no Python 3.11 or later" in done.stderr
    status, _, result = done.stdout.partition("\n")
    assert (status, json.loads(result)["extra_data"]["gradable"]) == ("0", False)
