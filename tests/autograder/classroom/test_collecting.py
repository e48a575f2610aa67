"""A class as the platforms hand it over: who is in it, under which id, and which of their files count."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_files import packed

from autograder.__main__ import main
from autograder.classroom import class_files, collecting, downloads
from autograder.classroom.collecting import Handed, collect, identify, load, recognise
from autograder.submission import Unreadable

#: A busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOPICS = ("zero", "ring")
#: Letters, marks on them, and digits, of any script, with single signs between them.
SAFE = re.compile(r"\w[\w-]{0,61}")


def notebook(*sources: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})


def written(root: Path, files: dict[str, str | bytes]) -> Path:
    """A folder of these files."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


@pytest.fixture(params=["folder", "zip", "zip of the folder", "zip of another folder"])
def place(request, tmp_path):
    """Puts a class somewhere, in each of the ways in which an instructor may have it."""

    def put(files):
        if request.param == "folder":
            return written(tmp_path / "class", files)
        top = {"zip of the folder": "class/", "zip of another folder": "assignment_7_export/"}.get(request.param, "")
        (tmp_path / "class.zip").write_bytes(packed({top + name: content for name, content in files.items()}))
        return tmp_path / "class.zip"

    return put


def sources(handed: Handed) -> dict[str, str]:
    return {unit.label: unit.source for unit in load(handed, TOPICS).units}


def refusal(handed: Handed) -> str:
    with pytest.raises(Unreadable) as caught:
        load(handed, TOPICS)
    return str(caught.value)


# Gradescope

METADATA = """---
submission_101:
  :submitters:
  - :name: O'Hara, Ann "=1+1"
    :sid: '007'
    :email: ann@example.edu
  :created_at: 2026-02-05 04:35:07.123456000 Z
  :score: 3.5
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
  :history: []
submission_102:
  :submitters:
  - :name: Zoë Ünal
    :sid: '12'
    :email: zoe@example.edu
  - :name: 张伟
    :sid:
    :email: zhang@example.edu
  :created_at: 2026-02-06 04:35:07.123456000 Z
submission_103:
  :submitters:
  - :name: Gone
    :sid: '13'
"""


def test_a_gradescope_export(place):
    files = {
        "submission_metadata.yml": METADATA,
        "submission_101/zero.py": "A = 1",
        "submission_102/labs/ring.py": "B = 2",
        "submission_102/labs/zero.py": "C = 3",
        "submission_104/zero.py": "D = 4",
    }
    kind, rows = recognise(place(files))
    assert kind == "Gradescope's export"
    by_number = {row.known.get("gradescope", row.id): row for row in rows}
    ann, pair, gone, other = (by_number[name] for name in ("101", "102", "103", "submission_104"))
    assert ann.name == 'O\'Hara, Ann "=1+1"'
    assert ann.known == {
        "gradescope": "101",
        "created": "2026-02-05 04:35:07.123456000 Z",
        "email": "ann@example.edu",
        "sid": "007",
    }
    assert sources(ann) == {"zero.py": "A = 1"}
    assert pair.name == "Zoë Ünal & 张伟"
    assert (pair.known["email"], pair.known["sid"]) == ("zoe@example.edu; zhang@example.edu", "12")
    assert sources(pair) == {"ring.py": "B = 2", "zero.py": "C = 3"}
    assert (gone.name, "download it again" in refusal(gone)) == ("Gone", True)
    assert load(other, TOPICS).problems == ("submission_metadata.yml does not name who handed this in",)


@pytest.mark.parametrize("text", ["- a", "a: [", "\x00", "3", "", "a: b: c", "\tx", b"a: \xff"])
def test_a_damaged_description_of_gradescope_is_refused(text, tmp_path):
    path = written(tmp_path / "c", {"submission_metadata.yml": text, "submission_1/zero.py": ""})
    with pytest.raises(Unreadable, match=r"^submission_metadata\.yml .*: download the export again$"):
        collect(path)


@pytest.mark.parametrize(
    "record", ["{}", "", "3", "{':submitters': 3}", "{':submitters': [3, {':name': [1]}, {':sid': {}}]}", "[]"]
)
def test_a_strange_description_of_a_submission_loses_no_row(record, tmp_path):
    """Kills: a traceback, or a class without those whose description has another form."""
    text = f"submission_1: {record}\nsubmission_2: {{':submitters': [{{':name': Ann}}]}}\n"
    files = {"submission_metadata.yml": text, "submission_1/zero.py": "", "submission_2/zero.py": ""}
    assert [row.name for row in collect(written(tmp_path / "c", files))] == ["Ann", "submission_1"]


def test_without_pyyaml_gradescope_is_refused_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    path = written(tmp_path / "c", {"submission_metadata.yml": METADATA, "submission_101/zero.py": ""})
    with pytest.raises(Unreadable, match="pip install pyyaml"):
        collect(path)
    assert len(collect(written(tmp_path / "plain", {"ann.py": ""}))) == 1


def test_what_gradescope_names_is_never_made_an_object(tmp_path):
    """Kills: a loader of YAML that runs what it reads."""
    text = f"submission_1: !!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\n"
    collect(written(tmp_path / "c", {"submission_metadata.yml": text, "submission_1/zero.py": ""}))
    assert not (tmp_path / "made").exists()


# Canvas


def test_a_canvas_download(place):
    files = {
        "doejane_1234_5678_zero.py": "A = 1",
        "doejane_1234_5679_ring-2.py": "B = 2",
        "muellerzoe_LATE_77_5680_page.ipynb": notebook("C = 3"),
        "lowercase_late_78_5681_answers.py": "D = 4",
        "typed_79_text.html": "<p>x",
        "99_5682_no name.py": "E = 5",
        "packed_80_5683_labs.zip": packed({"labs/zero.py": "F = 6"}),
        "wrong_81_5684_report.pdf": "%PDF",
        ".DS_Store": "",
        "desktop.ini": "",
    }
    kind, rows = recognise(place(files))
    assert kind == "Canvas's download"
    by_user = {row.known["canvas"]: row for row in rows}
    assert sorted(by_user) == ["1234", "77", "78", "79", "80", "81", "99"]
    jane = load(by_user["1234"], TOPICS)
    assert {unit.label: unit.module for unit in jane.units} == {"zero.py": "zero", "ring.py": "ring"}
    assert {user for user, row in by_user.items() if row.late} == {"77", "78"}
    assert sources(by_user["77"]) == {"cell 1": "C = 3"}
    assert sources(by_user["78"]) == {"answers.py": "D = 4"}
    assert "hand in a file" in refusal(by_user["79"])
    assert sources(by_user["80"]) == {"zero.py": "F = 6"}
    assert "report.pdf is not a .py file" in refusal(by_user["81"])
    assert by_user["99"].name == "user 99"
    assert by_user["1234"].name == "doejane"


def test_the_newest_of_a_file_that_was_handed_in_twice_counts(place):
    """Kills: the first attempt, or both at once, and the name that sorts last rather than the newer number."""
    files = {"doe_1_200_zero-1.py": "NEW = 1", "doe_1_100_zero.py": "OLD = 1", "doe_1_150_zero-2.py": "MIDDLE = 1"}
    (row,) = collect(place(files))
    found = load(row, TOPICS)
    assert [unit.source for unit in found.units] == ["NEW = 1"]
    assert found.problems == (
        "zero.py was handed in again as zero-1.py: the newer one counts",
        "zero-2.py was handed in again as zero-1.py: the newer one counts",
    )


def test_numbered_parts_are_not_taken_for_attempts(place):
    """Kills: losing one of two notebooks whose names end in numbers."""
    (row,) = collect(place({"doe_1_5_lab-1.ipynb": notebook("A = 1"), "doe_1_6_lab-2.ipynb": notebook("B = 2")}))
    assert sources(row) == {"lab-1.ipynb cell 1": "A = 1", "lab-2.ipynb cell 1": "B = 2"}


def test_numbered_modules_are_not_taken_for_attempts(tmp_path):
    (row,) = collect(written(tmp_path / "c", {"doe_1_5_lab-1.py": "A = 1", "doe_1_6_lab-2.py": "B = 2"}))
    assert sources(row) == {"lab-1.py": "A = 1", "lab-2.py": "B = 2"}


def test_a_file_name_cannot_pass_for_another_learner(tmp_path):
    """Kills: reading the last numbers of a name, which the learner chose."""
    files = {"mallory_66_1_a_77_2_zero.py": "", "victim_77_3_zero.py": "", "mallory_66_4_notes.html": ""}
    rows = collect(written(tmp_path / "canvas", files))
    assert {row.known["canvas"]: sorted(row.files) for row in rows} == {
        "66": ["a_77_2_zero.py"],
        "77": ["zero.py"],
    }
    files = {
        f"Mal_66_assignsubmission_file_x_{77}_assignsubmission_file_zero.py": "",
        "Ann_77_assignsubmission_file_": "",
    }
    assert {row.known["moodle"] for row in collect(written(tmp_path / "moodle", files))} == {"66", "77"}


#: Names of Canvas that two learners may have: ``doejane_101`` is what Canvas makes of a learner called "Doe, Jane_101".
AMBIGUOUS = {
    "doejane_101_5_9001_zero.py": "user 101 or to user 5",
    "101_5_9001_zero.py": "user 101 or to user 5",
    "doejane_101_5_9001_3_zero.py": "user 101 or to user 5",
    "doejane_101_5_text.html": "user 101 or to user 5",
    "doejane_101_5_link.html": "user 101 or to user 5",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_name_that_two_learners_may_have_is_nobodys(name, place):
    """Kills: a learner who ends her name in ``_101`` and hands in for user 101, and one who is called so by chance."""
    others = {"eve_77_9100_zero.py": "A = 1", "fay_101_9101_ring.py": "B = 2"}
    rows = {row.name: row for row in collect(place({name: "C = 3", **others}))}
    assert {row.known.get("canvas"): sorted(sources(row)) for row in rows.values() if row.known} == {
        "77": ["zero.py"],
        "101": ["ring.py"],
    }
    (row,) = (row for row in rows.values() if not row.known)
    assert AMBIGUOUS[name] in refusal(row)
    assert "only two numbers" in refusal(row)
    assert any(name in note for note in load(rows["fay"], TOPICS).problems)  # it may be hers
    assert load(rows["eve"], TOPICS).problems == ()


def test_numbers_of_a_platform_are_written_in_ascii(tmp_path):
    """Kills: reading digits of another script, which Canvas leaves in a name, as a user's number."""
    files = {"mal_\u0667\u0667_\u0665_66_9001_zero.py": "A = 1", "eve_77_9002_zero.py": "", "fay_78_9003_zero.py": ""}
    assert sorted(row.known["canvas"] for row in collect(written(tmp_path / "c", files))) == ["66", "77", "78"]


def test_what_canvas_itself_writes_between_decides(place):
    """The mark of a late submission stands before the user's number, in capitals: no name is written so."""
    files = {
        "doejane_LATE_101_5_9001_zero.py": "A = 1",
        "doejane_102_LATE_6_9002_zero.py": "B = 2",
        "fay_103_9003_05-lab.py": "C = 3",
        "gil_LATE_104_9004_text.html": "<p>",
    }
    rows = {row.known["canvas"]: row for row in collect(place(files))}
    assert sorted(rows) == ["101", "103", "104", "6"]
    assert list(rows["101"].files) == ["9001_zero.py"]
    assert (rows["6"].name, rows["6"].late, list(rows["6"].files)) == ("doejane_102", True, ["zero.py"])


def test_two_names_under_one_number_are_not_one_learner(place, tmp_path):
    """Kills: a file that somebody put into the download under the number of another, and that counts as hers."""
    files = {"doe_1_5_zero.py": "A = 1", "mal_1_9_zero.py": "B = 2", "eve_2_6_zero.py": "C = 3"}
    rows = {row.name: row for row in collect(place(files))}
    assert sorted(rows) == ["doe", "eve", "mal"]
    for name in ("doe", "mal"):
        assert "doe and mal both have the number 1" in refusal(rows[name])
    assert sources(rows["eve"]) == {"zero.py": "C = 3"}
    files = {f"{name}_7_assignsubmission_file_/zero.py": "" for name in ("Ann", "Mal")}
    rows = collect(written(tmp_path / "moodle", files))
    assert all("Ann and Mal both have the number 7" in refusal(row) for row in rows)


def test_an_anonymous_class_of_canvas(place):
    """Kills: a row for each file, because nobody's number stands before it; and numbers that are no user's."""
    files = {
        "anon_aB3dE_5678_zero.py": "A = 1",
        "anon_aB3dE_5679_ring.py": "B = 2",
        "LATE_anon_12345_5680_zero.py": "C = 3",
        "anon_Zz9x1_text.html": "<p>",
    }
    kind, rows = recognise(place(files))
    assert kind == "Canvas's download"
    assert {row.name: (row.known, row.late) for row in rows} == {
        "anonymous aB3dE": ({"anonymous": "aB3dE"}, False),
        "anonymous 12345": ({"anonymous": "12345"}, True),
        "anonymous Zz9x1": ({"anonymous": "Zz9x1"}, False),
    }
    assert sources(next(row for row in rows if "aB3dE" in row.name)) == {"ring.py": "B = 2", "zero.py": "A = 1"}


# Moodle


def test_a_name_of_moodle_cannot_hold_another(tmp_path):
    """Moodle writes no underscore into a name, so what stands before the first one is all of it."""
    files = {"Ann_77_assignsubmission_file_x_66_assignsubmission_file_zero.py": "A = 1"}
    files |= {"Eve_78_assignsubmission_file_zero.py": "", "b_c_79_assignsubmission_file_zero.py": ""}
    rows = collect(written(tmp_path / "c", files))
    assert {row.known.get("moodle", "") for row in rows} == {"77", "78", ""}


def test_a_moodle_download_of_folders(place):
    files = {
        "Jane, Doe_123_assignsubmission_file_/zero.py": "A = 1",
        "Zoë Müller_124_assignsubmission_file_/labs/ring.py": "B = 2",
        "Zoë Müller_124_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        "Ann Only_125_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        "Max_126_assignsubmission_file_/my labs.zip": packed({"zero.py": "C = 3"}),
        "Teilnehmer-in_127_assignsubmission_file/page.ipynb": notebook("D = 4"),
    }
    kind, rows = recognise(place(files))
    assert kind == "Moodle's download"
    by_number = {row.known["moodle"]: row for row in rows}
    assert [by_number[str(n)].name for n in (123, 124, 125)] == ["Jane, Doe", "Zoë Müller", "Ann Only"]
    assert sources(by_number["123"]) == {"zero.py": "A = 1"}
    assert load(by_number["124"], TOPICS).problems == (
        "what was handed in as onlinetext is not graded: hand in a file",
    )
    assert sources(by_number["124"]) == {"ring.py": "B = 2"}
    assert "hand in a file" in refusal(by_number["125"])
    assert sources(by_number["126"]) == {"zero.py": "C = 3"}
    assert sources(by_number["127"]) == {"cell 1": "D = 4"}


def test_a_moodle_download_without_folders(place):
    files = {
        "Jane Doe_123_assignsubmission_file_zero.py": "A = 1",
        "Jane Doe_123_assignsubmission_file_ring.py": "B = 2",
        "Jane Doe_124_assignsubmission_file_zero.py": "C = 3",
        "Jane Doe_124_assignsubmission_onlinetext_onlinetext.html": "<p>",
    }
    rows = collect(place(files))
    assert [(row.known["moodle"], row.name) for row in rows] == [("123", "Jane Doe"), ("124", "Jane Doe")]
    assert [sources(row) for row in rows] == [{"ring.py": "B = 2", "zero.py": "A = 1"}, {"zero.py": "C = 3"}]
    assert len(load(rows[1], TOPICS).problems) == 1


# A plain class


def test_a_plain_class(place):
    files = {
        "ann.py": "A = 1",
        "Bob, Jr..ipynb": notebook("B = 2"),
        "=cmd()/labs/zero.py": "C = 3",
        "dora.zip": packed({"dora/zero.py": "D = 4"}),
        "erna.docx": "text",
        "fred/": "",
        ".hidden.py": "",
        "__MACOSX/ann.py": "",
        "Thumbs.db": "",
    }
    kind, rows = recognise(place(files))
    assert kind == "a plain class"
    if len(rows) == 1:  # one folder is a class of one, if the archive is not called after it
        assert rows[0].name == "assignment_7_export"
        return
    found = {row.name: row for row in rows}
    assert sorted(found) == ["=cmd()", "Bob, Jr.", "ann", "dora", "erna", "fred"]
    assert [sources(found[name]) for name in ("ann", "Bob, Jr.", "=cmd()", "dora")] == [
        {"ann.py": "A = 1"},
        {"cell 1": "B = 2"},
        {"zero.py": "C = 3"},
        {"zero.py": "D = 4"},
    ]
    assert "is not a .py file" in refusal(found["erna"])
    assert "fred" in refusal(found["fred"])
    assert "hand in" in refusal(found["fred"])


def test_the_same_submission_has_the_same_hash_packed_and_unpacked(tmp_path):
    files = {"doe_1_2_zero.py": "A = 1", "doe_1_3_ring.py": "B = 2", "eve_2_4_zero.py": "C"}
    (tmp_path / "c.zip").write_bytes(packed(files))
    pairs = zip(collect(written(tmp_path / "c", files)), collect(tmp_path / "c.zip"), strict=True)
    assert all((load(a, TOPICS).sha256, a.id) == (load(b, TOPICS).sha256, b.id) for a, b in pairs)


def test_a_few_strangers_in_a_download_are_rows_of_their_own(tmp_path):
    files = {"doe_1_2_zero.py": "A = 1", "eve_2_3_zero.py": "B = 2", "by mail.py": "C = 3"}
    assert [row.name for row in collect(written(tmp_path / "c", files))] == ["by mail", "doe", "eve"]


def test_links_are_not_followed_and_are_rows(tmp_path):
    """Kills: grading the reference, or a neighbour's work, through a link in the class."""
    written(tmp_path / "away", {"zero.py": "SECRET = 1"})
    path = written(tmp_path / "class", {"ann.py": "A = 1", "bob/": ""})
    os.symlink(tmp_path / "away" / "zero.py", path / "eve.py")
    os.symlink(tmp_path / "away", path / "mal")
    os.symlink(tmp_path / "away" / "zero.py", path / "bob" / "zero.py")
    found = {row.name: row for row in collect(path)}
    assert sorted(found) == ["ann", "bob", "eve", "mal"]
    assert all("link" in refusal(found[name]) for name in ("eve", "mal"))
    assert "holds no .py file" in refusal(found["bob"])


def test_links_in_the_archive_of_a_class_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        info = zipfile.ZipInfo("doe_1_2_zero.py")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("eve_2_3_zero.py", "A = 1")
    doe, eve = collect(tmp_path / "c.zip")
    assert "a link" in refusal(doe)
    assert sources(eve) == {"zero.py": "A = 1"}


def test_a_bomb_in_the_archive_of_a_class_costs_only_its_own(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("doe_1_2_zero.py", bytes(65 << 20))
        archive.writestr("eve_2_3_zero.py", "A = 1")
    doe, eve = collect(tmp_path / "c.zip")
    assert "64 MiB" in refusal(doe)
    assert sources(eve) == {"zero.py": "A = 1"}


DOWNLOADS = {
    "Gradescope's export": {"submission_metadata.yml": METADATA, "submission_101/zero.py": "A = 1"},
    "Canvas's download": {"doe_1_2_zero.py": "A = 1", "eve_2_3_zero.py": "B = 2"},
    "Moodle's download": {f"{n}_7{n}_assignsubmission_file_/zero.py": "A = 1" for n in "12"},
}


@pytest.mark.parametrize("kind", DOWNLOADS)
@pytest.mark.parametrize("top", ["", "export/"])
def test_a_folder_that_holds_the_platforms_archive_is_not_one_submission(kind, top, tmp_path):
    """Kills: a whole class that is graded as the work of one learner."""
    archive = packed({top + name: content for name, content in DOWNLOADS[kind].items()})
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "all of them.zip").write_bytes(archive)
    with pytest.raises(Unreadable, match=f"^c holds {kind} in 'all of them.zip': name that file$"):
        collect(tmp_path / "c")
    (tmp_path / "c.zip").write_bytes(packed({"all of them.zip": archive}))
    with pytest.raises(Unreadable, match=rf"^c\.zip holds {kind} in 'all of them.zip': unpack it and name that file$"):
        collect(tmp_path / "c.zip")
    assert recognise(tmp_path / "c" / "all of them.zip")[0] == kind


@pytest.mark.parametrize("kind", ["Canvas's download", "Moodle's download"])
def test_the_archive_of_a_class_beside_other_files_is_a_row_that_says_so(kind, place):
    """A learner may have packed what looks like a class: that costs nobody else anything."""
    files = {"ann.py": "A = 1", "all.zip": packed(DOWNLOADS[kind]), "grades.csv": "x"}
    rows = {row.name: row for row in collect(place(files))}
    if len(rows) > 1:
        assert sources(rows["ann"]) == {"ann.py": "A = 1"}
        assert refusal(rows["all"]) == f"all.zip holds {kind} of a class, not one submission: grade that archive itself"


def test_an_archive_of_labs_is_a_submission_whatever_its_files_are_called(tmp_path):
    """Kills: taking one learner's files for a class because one of them is called like Canvas's."""
    (tmp_path / "c").mkdir()
    for name in ("ann", "ben"):
        (tmp_path / "c" / f"{name}.zip").write_bytes(packed({"lab_1_2_zero.py": "A = 1", "ring.py": "B = 2"}))
    (tmp_path / "c" / "carl.zip").write_bytes(b"no archive")
    rows = {row.name: row for row in collect(tmp_path / "c")}
    assert sources(rows["ann"]) == {"lab_1_2_zero.py": "A = 1", "ring.py": "B = 2"}
    assert "damaged" in refusal(rows["carl"])


def test_a_learner_cannot_speak_for_others_from_the_only_folder(tmp_path):
    """Kills: a class of one, whose learner hands in a folder that looks like a download, as rows of a whole class."""
    forged = {"ann/victim_77_3_zero.py": "", "ann/other_78_3_zero.py": ""}
    with pytest.raises(Unreadable, match="c holds Canvas's download in 'ann': name that folder"):
        collect(written(tmp_path / "c", forged))
    (row,) = collect(written(tmp_path / "d", {"bob/labs/victim_77_3_zero.py": ""}))
    assert (row.name, row.known) == ("bob", {})


def test_a_strange_name_in_the_archive_of_a_class_costs_only_its_own(tmp_path):
    """Kills: refusing the whole class for what one learner called a file."""
    files = {"doe_1_2_a/../zero.py": "A = 1", "eve_2_3_at 10:30.py": "B = 2", "fay_3_4_..\\x.py": "C = 3"}
    files["_" * 60_000 + "_1_2_x.py"] = ""
    (tmp_path / "c.zip").write_bytes(packed(files | {"gil_4_5_zero.py": "D = 4", "hal_5_6_zero.py": ""}))
    found = {row.name: row for row in collect(tmp_path / "c.zip")}
    assert len(found) == 6
    assert "a path outside itself" in refusal(found["doe"])
    assert sources(found["eve"]) == {"at 10:30.py": "B = 2"}
    assert sources(found["fay"]) == {"..\\x.py": "C = 3"}
    assert sources(found["gil"]) == {"zero.py": "D = 4"}


def test_an_archive_of_a_class_with_two_entries_of_one_name_is_refused(tmp_path):
    """Kills: grading one of the two, whichever that is."""
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("doe_1_2_zero.py", "A = 1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("doe_1_2_zero.py", "B = 2")
    with pytest.raises(Unreadable, match=r"c\.zip holds two entries of the same name"):
        collect(tmp_path / "c.zip")


def test_an_archive_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    (tmp_path / "c.zip").write_bytes(packed({"ann.py": ""}))
    (row,) = collect(tmp_path / "c.zip")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(Unreadable, match=r"^c\.zip cannot be opened: Permission denied$"):
        collect(tmp_path / "c.zip")
    assert refusal(row) == "ann cannot be opened: Permission denied"


@pytest.mark.parametrize("name", ["../doe_1_2_zero.py", "/doe.py", "C:/doe.py"])
def test_an_archive_of_a_class_that_leads_outside_is_refused(name, tmp_path):
    (tmp_path / "c.zip").write_bytes(packed({name: "", "ann.py": ""}))
    with pytest.raises(Unreadable, match="a path outside itself"):
        collect(tmp_path / "c.zip")


def test_an_empty_class_is_an_error(tmp_path):
    with pytest.raises(Unreadable, match="holds no submission"):
        collect(tmp_path)
    with pytest.raises(Unreadable, match="holds no submission"):
        collect(written(tmp_path / "litter", {".DS_Store": "", "desktop.ini": "", "__MACOSX/a.py": ""}))
    (tmp_path / "c.zip").write_bytes(packed({}))
    with pytest.raises(Unreadable, match="holds no submission"):
        collect(tmp_path / "c.zip")
    with pytest.raises(Unreadable, match="neither a folder nor"):
        collect(written(tmp_path, {"c.tar.gz": ""}) / "c.tar.gz")
    with pytest.raises(Unreadable, match="there is no folder or archive"):
        collect(tmp_path / "nowhere")
    with pytest.raises(Unreadable, match="damaged"):
        collect(written(tmp_path, {"d.zip": "no"}) / "d.zip")


# Ids

texts = st.text(max_size=60) | st.sampled_from(
    ["index", "CON", "..", "-rf", "ann", "Ann", "ann-0123456789ab", "a" * 99]
)


def is_safe(id_: str) -> bool:
    """Whether an id can be the name of a file anywhere: no separators, nothing unseen, written in one way, not long."""
    bare = "".join(letter for letter in id_ if not unicodedata.category(letter).startswith("M"))
    seen = id_.isprintable() and unicodedata.category(id_[0])[0] in "LN" and id_ not in collecting.TAKEN
    return bool(
        seen and SAFE.fullmatch(bare) and len(os.fsencode(id_)) <= 210 and unicodedata.is_normalized("NFKC", id_)
    )


def on_disk(id_: str) -> str:
    """An id as the most forgetful file system knows it: without capitals, letters taken apart from their accents."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", id_).casefold())


@PATIENT
@given(st.lists(st.tuples(texts, st.text(max_size=8)), max_size=12, unique_by=lambda pair: pair[1]))
def test_ids_are_safe_as_names_of_files_and_unique(wanted):
    """Whatever people are called, no id can leave its folder or meet another, and order does not matter."""
    ids = identify(wanted)
    assert len(set(map(on_disk, ids))) == len(wanted)
    assert [id_ for id_ in ids if not is_safe(id_)] == []
    assert identify(wanted[::-1]) == ids[::-1]


#: What people are called, and the id with the number that a platform gave them.
LETTERS = {
    "Đặng Thị Ánh": "Đặng-Thị-Ánh-7",
    "Zoë Müller": "Zoë-Müller-7",
    "Łukasz Ødegård": "Łukasz-Ødegård-7",
    "張偉": "張偉-7",
    "Дмитрий": "Дмитрий-7",
    "नमस्ते": "नमस्ते-7",
    "علي": "علي-7",
    "ﬁona ²": "fiona-2-7",
    "../../etc/passwd": "etc-passwd-7",
    "a\u202eb\u200bc\u3164": "a-b-c-7",
}


@pytest.mark.parametrize("name", LETTERS)
def test_names_keep_their_letters(name):
    """Kills: "ang" for Đặng, and a class of numbers where nobody writes in Latin letters."""
    (id_,) = identify([(f"{name}-7", "x")])
    assert id_ == LETTERS[name]
    assert is_safe(id_)


def test_ids_that_a_file_system_takes_for_one_differ():
    """Kills: two learners in one file, where capitals or the way to write an accent are not told apart."""
    names = ["Zoë", "ZOË", "Zoe\u0308", "straße", "STRASSE", "İ", "i̇"]
    ids = identify([(name, str(number)) for number, name in enumerate(names)])
    assert len(set(map(on_disk, ids))) == len(names)


def test_where_the_file_system_lacks_a_letter_ids_do_without(monkeypatch):
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode("latin-1"))
    assert identify([("Đặng-7", "a"), ("Müller-8", "b")]) == ["ng-7", "Müller-8"]


def test_no_name_can_take_the_id_of_another():
    """Kills: a learner who hands in under the id that another will get."""
    first = identify([("ann", "1"), ("Ann", "2")])
    again = identify([("ann", "1"), ("Ann", "2"), (first[0], "3")])
    assert again[:2] == first
    assert len(set(again)) == 3


def test_names_are_written_as_they_are_and_ids_are_plain():
    ids = identify([("Zoë Müller-123", "a"), ("張偉", "b"), ("../../etc", "c"), ("index", "d"), ("\u3164", "e")])
    assert ids[:3] == ["Zoë-Müller-123", "張偉", "etc"]
    assert ids[3].startswith("index-")
    assert all(map(is_safe, ids))


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are Unicode there")
def test_names_that_are_no_text_do_not_break_the_class(tmp_path):
    """Kills: a row that cannot be written, or that turns the terminal or the direction of writing."""
    path = written(tmp_path / "c", {"a\x1b[31m\u202e.py": "A = 1", "two\nlines.py": "B = 2"})
    with open(os.fsencode(path) + b"/\xff\xfe.py", "w") as file:
        file.write("C = 3")
    rows = collect(path)
    assert sorted(source for row in rows for source in sources(row).values()) == ["A = 1", "B = 2", "C = 3"]
    for row in rows:
        assert row.name.isprintable()
        assert load(row, TOPICS).name.isprintable()
        (row.name + row.id).encode()


def test_the_class_may_be_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(written(tmp_path / "c", {"ann.py": "A = 1"}))
    (row,) = collect(".")
    monkeypatch.chdir(tmp_path)
    assert sources(row) == {"ann.py": "A = 1"}
    monkeypatch.chdir(written(tmp_path / "empty", {"sub/": ""}) / "sub")
    with pytest.raises(Unreadable, match=r"^sub holds no submission"):
        collect(".")


def test_the_order_is_that_of_the_ids(tmp_path):
    rows = collect(written(tmp_path / "c", {f"{name}.py": "" for name in ("b", "a", "C", "a b")}))
    assert [row.id for row in rows] == sorted(row.id for row in rows)


def test_very_large_classes_are_collected_in_time(tmp_path):
    """Kills: work that grows with the square of the class."""
    entries = {f"{n}.py": class_files.Entry(f"{n}.py") for n in range(10_000)}
    kind, _, rows = downloads.recognise(class_files.Class(tmp_path, entries))
    assert (kind, len(rows)) == ("a plain class", 10_000)
    assert len(set(identify([(f"x{n}", str(n)) for n in range(10_000)]))) == 10_000


# The command


def test_the_command_lists_the_class(tmp_path, capsys):
    files = {"doe_LATE_1_2_zero.py": "A = 1", "eve_2_3_zero.txt": ""}
    assert main(["collect", str(written(tmp_path / "c", files))]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["doe-1", "late", "doe", "doe_LATE_1_2_zero.py"]
    assert second.startswith("eve-2")
    assert "cannot be read: zero.txt is not a .py file" in second
    assert last == "Canvas's download: 2 submissions, 1 late, 1 that cannot be read"


def test_the_command_says_in_one_line_what_is_wrong(tmp_path, capsys):
    assert main(["collect", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "holds no submission" in captured.err


# A quiz of Canvas


@pytest.mark.parametrize(
    ("name", "learner", "user"),
    [
        ("adalovelace1001_question_77_5001_zero.py", "adalovelace", "1001"),
        ("bit_diddle_ben1002_question_77_5002_zero.py", "bit_diddle_ben", "1002"),
        ("ünalzoe_1003_question_78_5003_page-1.ipynb", "ünalzoe", "1003"),
        ("r2d2x7_question_9_12_a_question_3_4_b.py", "r2d2x", "7"),
    ],
)
def test_files_of_a_quiz_are_told_apart_by_learner(name, learner, user, place):
    """Kills: taking the question's number, which all share, for the learner's."""
    others = {f"other{number}_question_77_{number}9_zero.py": "A = 1" for number in (3001, 3002)}
    content = json.dumps({"cells": [{"cell_type": "code", "source": "A = 1"}]}) if name.endswith("nb") else "A = 1"
    kind, rows = recognise(place({name: content, **others}))
    assert kind == "Canvas's download"
    assert len(rows) == 3
    (row,) = (row for row in rows if row.known == {"canvas": user})
    assert (row.name, row.problem) == (learner, "")
    assert [unit.source for unit in load(row, TOPICS).units] == ["A = 1"]
