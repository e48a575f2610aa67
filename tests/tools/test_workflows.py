"""The workflows can be read, and what they call exists: they run where nobody sees it until it fails."""

from __future__ import annotations

import re

import pytest
import yaml

from tools.common import ROOT
from tools.gates import proof
from tools.release import environments

WORKFLOWS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
#: The commands of each, beside those of a publishing job.
COMMANDS = {
    "test": ["make test"],
    "proof": ["make proof PART=${{ matrix.part }}"],
    "pages": ["make site"],
    "release": ['make release-check TAG="$TAG"'],
}


def read(name: str) -> dict:
    return yaml.safe_load(WORKFLOWS[name])


def steps(name: str) -> list[dict]:
    return [step for job in read(name)["jobs"].values() for step in job["steps"]]


def test_each_workflow_calls_its_target():
    """Kills: a workflow with commands of its own, which nobody can run here, and a target that was renamed."""
    assert set(WORKFLOWS) == set(COMMANDS)
    for name, commands in COMMANDS.items():
        run = [step["run"] for step in steps(name) if "run" in step]
        assert [command for command in run if command.startswith("make ")] == commands
        assert {command.split()[1] for command in commands} <= TARGETS


@pytest.mark.parametrize("name", WORKFLOWS)
def test_jobs_end_and_may_only_read(name):
    """Kills: a job that hangs for six hours, and a token that may write where it need not."""
    workflow = read(name)
    assert workflow["permissions"]["contents"] == "read"
    assert all(job["timeout-minutes"] <= 240 for job in workflow["jobs"].values())


def test_an_action_has_one_version_everywhere():
    """Kills: a version raised in three workflows of four. What runs them needs Node 24, and so do the book's tools."""
    used = {tuple(step["uses"].split("@")) for name in WORKFLOWS for step in steps(name) if "uses" in step}
    assert len(used) == len(dict(used))
    nodes = [step["with"]["node-version"] for name in WORKFLOWS for step in steps(name) if "setup-node" in str(step)]
    assert set(nodes) == {"24"}


def test_every_part_of_the_proof_is_run_at_night():
    """Kills: a part that is added and never run."""
    workflow = read("proof")
    assert workflow["jobs"]["proof"]["strategy"]["matrix"]["part"] == list(proof.PARTS)
    assert workflow[True]["schedule"]  # YAML reads the word "on" as true


def test_a_release_is_checked_on_the_oldest_and_the_newest_python():
    """Kills: a release that is handed out before it was checked, or skips a Python because it is not installed."""
    jobs = read("release")["jobs"]
    setup = next(step for step in jobs["check"]["steps"] if "setup-python" in step.get("uses", ""))
    assert set(setup["with"]["python-version"].split()) == {environments.OLDEST, environments.NEWEST}
    assert jobs["publish"]["needs"] == "check"
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
