"""What somebody who searches sees first: the definition, then the chapters; programs, optional tasks, sources last."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from experiments.glossary import GLOSSARY
from tests.book.conftest import proof
from tools.common import VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (VENDOR / "minisearch").is_dir(), reason="MiniSearch is not here (make vendor)"),
]

#: Searches, one after the other, and what each finds: titles and pages, in order, as in the list.
SEARCH = """async (asked) => {
  const field = document.querySelector("#pst-search-dialog input"), found = {};
  const status = document.querySelector("#pst-search-dialog [role=status]");
  const list = document.querySelector("#pst-search-dialog .rz-found");
  for (const words of asked) {
    status.textContent = "";
    field.value = words;
    field.dispatchEvent(new Event("input"));
    while (!/found/.test(status.textContent)) await new Promise((done) => setTimeout(done, 10));
    const textOf = (item, name) => item.querySelector(name)?.textContent ?? "";
    found[words] = [...list.children].map((item) => ["a", "small", "p"].map((name) => textOf(item, name)));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def search(browser, html, site):
    """``search(words, ...)``: what is found for each."""
    if not (html / "book" / "reference" / "glossary.html").exists():
        pytest.skip("this build has one page and no glossary")
    page = browser.new_page()
    page.goto(f"{site}/book/intro.html")
    loaded = page.locator("script[src*='search-data'], script[src*=minisearch]").count()
    page.keyboard.press("Control+k")
    find = lambda *words: page.evaluate(SEARCH, list(words))  # noqa: E731
    find.page, find.loaded = page, loaded
    yield find
    page.close()


def titles(found: list[list[str]]) -> list[str]:
    return [title for title, _, _ in found]


FIRST = {
    # words: the term whose definition comes first, and the section that follows
    "all-reduce": ("all-reduce", "3.2 "),
    "PagedAttention": ("paging", ""),
    "NCCL": ("NCCL", "2.3 "),
    "nccl": ("NCCL", "2.3 "),
    "LoRA": ("LoRA", ""),
    "what is a micro-batch?": ("micro-batch", "7.2 "),
    "ranks": ("rank", "1.3 "),
    "dead lock": ("deadlock", "2.3 "),
    "kv cache": ("KV cache", "9.1 "),
    "gradient accumulation": ("accumulation", "5.4 "),
    "MoE": ("mixture of experts", "7.8 "),
    "WORLD_SIZE": ("world size", "1.3 "),
    "activation checkpointing": ("recomputation", "6.8 "),
}


def test_the_index_comes_when_somebody_searches_and_leads_to_sections(search, html, site):
    """Kills a page that loads the index before anybody asks, and a result that leads nowhere."""
    assert search.loaded == 0
    assert search("predict")["predict"]
    link = search.page.locator("#pst-search-dialog .rz-found a").first.get_attribute("href")
    file, _, place = link.removeprefix(f"{site}/").partition("#")
    assert f'id="{place}"' in (html / file).read_text(encoding="utf-8")


def test_a_definition_comes_first_and_its_section_next(search):
    """Kills a search in which no definition is ever found."""
    found = search(*FIRST)
    for words, (term, section) in FIRST.items():
        assert found[words][0][:2] == [term, "Glossary"], words
        assert found[words][1][0].startswith(section), words
        assert all(page != "Glossary" or kind for _, page, kind in found[words])
    meaning = next(term.meaning for term in GLOSSARY if term.name == "paging")
    assert found["PagedAttention"][0][2] == meaning


@pytest.mark.parametrize(
    "spellings",
    [
        ("allreduce", "all-reduce", "all reduce", "all_reduce"),
        ("reduce-scatter", "reducescatter"),
        ("micro-batch", "microbatch", "micro batches"),
        ("KV cache", "KV caches", "KV-cache"),
    ],
)
def test_spelling_does_not_matter(search, spellings):
    """Kills a search to which all-reduce and allreduce are different words."""
    found = [titles(one)[:5] for one in search(*spellings).values()]
    assert len(found[0]) == 5
    assert all(one == found[0] for one in found)


def test_capitals_inside_a_word_matter(search):
    """Kills ZeRO that finds every zero; who types it small finds both, and NCCL may be typed small."""
    found = search("ZeRO", "zero", "SM", "nccl", "NCCL")
    assert all("ZeRO" in f"{title} {page} {text}" or "…" in text for title, page, text in found["ZeRO"])
    assert titles(found["ZeRO"])[:2] == titles(found["zero"])[:2]
    assert "ZeRO" in titles(found["ZeRO"])[0]
    assert found["nccl"]
    assert not [title for title in titles(found["SM"]) if "small" in title.lower()]


def late(found: list[list[str]]) -> list[int]:
    """0 for most results, 1 for programs and optional tasks, 2 for sources."""
    last = ("Sources", "Papers, books and dated documents", "Documentation and code")
    return [
        2 if title in last else 1 if page == "Programs" or title.endswith("(optional)") or title == "Programs" else 0
        for title, page, _ in found
    ]


@pytest.mark.parametrize("words", ["FSDP", "deadlock", "bubble", "bibliography", "pagedattention", "CUDA graph", "moe"])
def test_programs_and_sources_come_after_the_chapters(search, words):
    (found,) = search(words).values()
    assert late(found) == sorted(late(found))


def test_who_types_a_name_of_code_finds_it(search):
    """Kills a rank by kind that hides the program or the optional function that somebody asks for by its name."""
    found = search("kv_calculator", "zero_traffic", "ring_all_reduce")
    assert titles(found["kv_calculator"])[0] == "kv_calculator"
    assert titles(found["zero_traffic"])[0] == "Build zero_traffic (optional)"
    assert titles(found["ring_all_reduce"])[0] == "Build ring_all_reduce"


def test_some_of_the_words_are_better_than_nothing(search):
    (found,) = search("prefix quetzalcoatl").values()
    assert found
    assert all("prefix" in " ".join(one).lower() for one in found[:3])


#: The sections that the search has: what is open in each, and what is closed.
SECTIONS = "() => window.rankzeroSections.map(({ title, text, closed }) => ({ title, text, closed }))"


def test_the_search_finds_what_is_closed_and_shows_none_of_it(search):
    """Kills an excerpt that tells the answer to a question: derivations, results and explanations are found by their
    words, and shown by the first words of their section."""
    assert search("derivation")["derivation"]
    sections = search.page.evaluate(SECTIONS)
    told = " ".join(f"{one['title']} {one['text']}" for one in sections).lower()
    closed = {one["title"]: set(re.findall(r"\b[a-z]{9,}\b", one["closed"])) for one in sections}
    once = Counter(word for words in closed.values() for word in words if word not in told)
    title, word = next((title, word) for title, words in closed.items() for word in sorted(words) if once[word] == 1)
    (found,) = search(word).values()
    assert title in titles(found)
    assert [text for text in found if word in " ".join(text).lower()] == []


def test_an_excerpt_shows_the_whole_name(search):
    """Kills an excerpt that shows "all-reduce" and "all ranks" to a reader who asked for all-gather."""
    (found,) = search("all-gather").values()
    name = re.compile("all.?gather", re.IGNORECASE)
    open_in = {one["title"] for one in search.page.evaluate(SECTIONS) if name.search(one["text"])}
    shown = [text for title, page, text in found if page != "Glossary" and title in open_in]
    assert len(shown) > 10
    assert [text for text in shown if not name.search(text)] == []


def test_an_excerpt_ends_where_the_text_ends(search):
    """Kills an excerpt that cuts off the last word of a text that it shows to its end."""
    short = {one["title"]: one["text"] for one in search.page.evaluate(SECTIONS) if 20 < len(one["text"]) < 150}
    found = search(*list(short)[:40])
    shown = [(title, text) for one in found.values() for title, page, text in one if page != "Glossary"]
    whole = [text for title, text in shown if text == short.get(title)]
    cut = [text for title, text in shown if text.endswith(" …") and short.get(title, "").startswith(text[:-2])]
    assert whole
    assert cut == []


def test_a_result_on_the_same_page_is_shown(search):
    """Kills a dialog that stays over the place to which its result leads."""
    page = search.page
    dialog = page.locator("#pst-search-dialog")
    if not dialog.evaluate("node => node.open"):
        page.keyboard.press("Control+k")
    search(page.locator("article h2").first.evaluate("node => node.firstChild.textContent"))
    dialog.locator(f".rz-found a[href^='{page.url.partition('#')[0]}#']").first.click()
    assert not dialog.evaluate("node => node.open")
    assert "#" in page.url


@proof
def test_every_name_of_every_term_finds_its_definition(search):
    found = search(*(name for term in GLOSSARY for name in (term.name, *term.also)))
    for term in GLOSSARY:
        for name in (term.name, *term.also):
            assert found[name][0][:2] == [term.name, "Glossary"], name
