"""The demos of paged memory and prefix reuse: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch09 import paged_memory, prefix_sharing, radix_live
from tests.wrong_programs import wrong

FREES_SHARED = wrong("09-block-manager", "A block that another table still holds")
LEAKS = wrong("09-block-manager", "A call that raises changes nothing")
OVERWRITES = wrong("09-radix-cache", "The slots that were cached first stay")
SPLITS_PAGES = wrong("09-radix-cache", "A prefix counts in whole pages")


def instead(monkeypatch, demo, wrong: type) -> None:
    """Give ``demo`` a wrong class in the place of the one that it asks for; its functions stay."""
    right = common.part

    def part(code: str, module: str, name: str):
        return wrong if name in ("BlockManager", "RadixCache") else right("solutions", module, name)

    monkeypatch.setattr(demo, "part", part)


@pytest.mark.parametrize("kind", ["chat", "bursty"])
def test_blocks_use_more_of_the_memory(tmp_path, kind):
    reserved, blocks = table(tmp_path, "paged_memory", "--trace", kind)
    assert float(blocks["tokens"]) > 2 * float(reserved["tokens"])
    assert int(blocks["steps"]) < int(reserved["steps"])
    assert float(reserved["outside"]) > 0


def test_large_blocks_waste_more(tmp_path):
    small, large = (table(tmp_path, "paged_memory", "--quick", "--block", size)[1] for size in ("4", "128"))
    assert float(large["inside"]) > float(small["inside"])


def test_a_memory_in_which_no_request_fits(capsys):
    with pytest.raises(SystemExit) as ended:
        run("paged_memory", "--slots", "300")
    assert ended.value.code == 2
    assert "the longest request must fit" in capsys.readouterr().err


def test_a_manager_that_loses_blocks_is_status_1(monkeypatch, capsys):
    """Kills a check that cannot fail."""

    class Loses(LEAKS):
        def free(self, sequence):
            self._free.append(self._tables[sequence].pop())
            super().free(sequence)
            self._free.pop()

        def check(self):
            """It has none."""

    instead(monkeypatch, paged_memory, Loses)
    assert run("paged_memory", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_a_manager_without_forks_does_not_need_counts(monkeypatch):
    instead(monkeypatch, paged_memory, FREES_SHARED)
    assert run("paged_memory", "--quick") == 0


@pytest.mark.parametrize(("page", "saved"), [(1, 82.5), (16, 80.7632), (256, 33.0)])
def test_a_tree_saves_what_the_formula_says(tmp_path, page, saved):
    (row,) = table(tmp_path, "prefix_sharing", "--page", str(page), "--requests", "100")
    assert int(row["tokens"]) == 60_000
    assert float(row["saved (%)"]) == pytest.approx(saved, abs=1e-4)


def test_prompts_of_a_file(tmp_path):
    file = tmp_path / "prompts.txt"
    file.write_text("Alice was beginning\n\nAlice was late\nAlice was beginning to get tired\n", encoding="utf-8")
    (row,) = table(tmp_path, "prefix_sharing", "--file", str(file), "--page", "1")
    assert row["prompts"] == "3"
    assert int(row["found cached"]) > 0


@pytest.mark.parametrize("text", ["", "\n \n", None])
def test_a_file_without_prompts(tmp_path, capsys, text):
    file = tmp_path / "prompts.txt"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        run("prefix_sharing", "--file", str(file))
    assert ended.value.code == 2
    assert "--file" in capsys.readouterr().err


def test_a_tree_that_splits_pages_is_status_1(monkeypatch, capsys):
    class Unchecked(SPLITS_PAGES):
        def check(self):
            """It has none."""

    instead(monkeypatch, prefix_sharing, Unchecked)
    assert run("prefix_sharing", "--page", "16", "--system", "500") == 1
    assert "NO" in capsys.readouterr().out


def test_calls_are_shown_one_by_one(tmp_path):
    rows = table(tmp_path, "radix_live")
    assert [row["answer"] for row in rows] == ["0", "2", "(3, [0, 1, 2])", "0", "[6, 3]", "", "[2]"]
    assert [int(row["evictable"]) + int(row["protected"]) for row in rows] == [4, 5, 5, 5, 3, 3, 2]


def test_slots_that_are_overwritten_are_seen(monkeypatch, tmp_path):
    instead(monkeypatch, radix_live, OVERWRITES)
    rows = table(tmp_path, "radix_live")
    assert rows[2]["answer"] == "(3, [4, 5, 2])"


@pytest.mark.parametrize("calls", ["", "drop 1", "evict", "unlock 1 2", "insert a", "match 1; unlock 0"])
def test_calls_that_cannot_be(capsys, calls):
    with pytest.raises(SystemExit) as ended:
        run("radix_live", "--calls", calls)
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
