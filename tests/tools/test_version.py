"""The version stands in ``rankzero/__init__.py``; what else names it says the same."""

from __future__ import annotations

import datetime
import re
import tomllib

import pytest
import yaml

import rankzero
from tools.common import ROOT
from tools.install_cells import address

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
#: The newest heading of the changes: the version, and in brackets its date, or that it is in preparation.
NEWEST = re.compile(r"^## (\d+\.\d+\.\d+) \((.+)\)$", re.MULTILINE)


def told(changes: str, citation: dict[str, object]) -> str:
    """The version that the changes and the citation tell: the newest one, ``.dev0`` behind one in preparation.

    Raises:
        ValueError: they do not agree, or the heading has no date.
    """
    version, date = NEWEST.search(changes).groups()
    if date == "in preparation":
        if citation.get("version") == version:
            raise ValueError("the citation names a version that is in preparation")
        return f"{version}.dev0"
    if (citation.get("version"), citation.get("date-released")) != (version, datetime.date.fromisoformat(date)):
        raise ValueError(f"the citation must name version {version} of {date}")
    return version


def test_changes_and_citation_tell_the_version_of_the_package():
    """Kills: a version raised in one place."""
    assert told((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), CITATION) == rankzero.__version__
    assert CITATION["repository-code"] == address()


def test_the_distribution_reads_the_packages_version():
    """Kills: a second version in pyproject.toml, which a release would hand out."""
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "rankzero.__version__"}


@pytest.mark.parametrize("citation", [{}, {"version": "1.2.0", "date-released": datetime.date(2026, 1, 1)}])
def test_a_release_is_cited_with_its_date(citation):
    with pytest.raises(ValueError, match=r"must name version 1\.2\.0 of 2026-12-01"):
        told("# Changes\n\n## 1.2.0 (2026-12-01)\n\n## 1.1.0 (2026-11-01)\n", citation)


def test_what_is_in_preparation_is_not_cited():
    """While the next one is prepared, the last release is cited."""
    changes = "# Changes\n\n## 1.2.0 (in preparation)\n"
    assert told(changes, {"version": "1.1.0"}) == "1.2.0.dev0"
    with pytest.raises(ValueError, match="in preparation"):
        told(changes, {"version": "1.2.0"})
