"""The demos of paged memory and prefix reuse: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import refused, run, table

from tests.wrong_programs import wrong

FREES_SHARED = wrong("09-block-manager", "A block that another table still holds")
LEAKS = wrong("09-block-manager", "A call that raises changes nothing")
OVERWRITES = wrong("09-radix-cache", "The slots that were cached first stay")
SPLITS_PAGES = wrong("09-radix-cache", "A prefix counts in whole pages")


@pytest.mark.parametrize("kind", ["chat", "bursty"])
def test_blocks_use_more_of_the_memory(tmp_path, kind):
    reserved, blocks = table(tmp_path, "paged_memory", "--trace", kind)
    assert float(blocks["tokens"]) > 2 * float(reserved["tokens"])
    assert int(blocks["steps"]) < int(reserved["steps"])
    assert float(reserved["outside"]) > 0


def test_large_blocks_waste_more(tmp_path):
    small, large = (table(tmp_path, "paged_memory", "--quick", "--block", size)[1] for size in ("4", "128"))
    assert float(large["inside"]) > float(small["inside"])


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


def test_calls_are_shown_one_by_one(tmp_path):
    rows = table(tmp_path, "radix_live")
    assert [row["answer"] for row in rows] == ["0", "2", "(3, [0, 1, 2])", "0", "[6, 3]", "", "[2]"]
    assert [int(row["evictable"]) + int(row["protected"]) for row in rows] == [4, 5, 5, 5, 3, 3, 2]


@pytest.mark.parametrize("text", ["", "\n \n", None])
def test_a_file_without_prompts(tmp_path, text):
    file = tmp_path / "prompts.txt"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert "--file" in refused("prefix_sharing", "--file", str(file))


# Wrong classes.


def test_a_manager_that_loses_blocks_is_status_1(found_out):
    class Loses(LEAKS):
        def free(self, sequence):
            self._free.append(self._tables[sequence].pop())
            super().free(sequence)
            self._free.pop()

        def check(self):
            """It has none."""

    found_out("paged_memory", "BlockManager", lambda right: Loses, "--quick")


def test_a_manager_without_forks_does_not_need_counts(replaced):
    replaced("paged_memory", "BlockManager", lambda right: FREES_SHARED)
    assert run("paged_memory", "--quick") == 0


def test_a_tree_that_splits_pages_is_status_1(found_out):
    class Unchecked(SPLITS_PAGES):
        def check(self):
            """It has none."""

    found_out("prefix_sharing", "RadixCache", lambda right: Unchecked, "--page", "16", "--system", "500")


def test_slots_that_are_overwritten_are_seen(replaced, tmp_path):
    replaced("radix_live", "RadixCache", lambda right: OVERWRITES)
    assert table(tmp_path, "radix_live")[2]["answer"] == "(3, [4, 5, 2])"
