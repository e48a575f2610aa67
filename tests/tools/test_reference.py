"""The reference pages: complete, up to date by construction, and linked from and to the sections."""

import html
import re
import subprocess
import sys
from dataclasses import replace
from itertools import accumulate, chain, combinations, pairwise

import pytest
import yaml

from autograder import bank
from autograder.items import Build
from autograder.sections import SECTIONS
from demos import names
from experiments.correction import Correction, worked
from experiments.corrections import every
from experiments.formulas import FORMULAS
from experiments.glossary import GLOSSARY
from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.hardware import GPUS, LINKS, NODES
from rankzero.facts.ideas import IDEAS, named
from rankzero.facts.models import MODELS
from tools import reference
from tools.common import BOOK, ROOT
from tools.reference import (
    bibliography,
    corrections,
    formulas,
    glossary,
    hardware,
    ideas,
    models,
    programs,
    routes,
    teaching,
    why,
)
from tools.reference.latex import latex
from tools.reference.markup import command, dotted, inline, section_link, table

ONE = Correction("3.8", "Start-ups", "An all-reduce takes 2 S/B.", "It takes longer.", (worked(abs, -2),), "A source")

#: Tests that read all pages, which takes seconds: in one process.
HOURS = pytest.mark.xdist_group("hours")


class TestPages:
    def test_every_page_is_in_the_contents_and_on_the_opening_page(self):
        """Kills a page that only its address finds."""
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
        listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
        opening = (BOOK / "intro.md").read_text(encoding="utf-8")
        for name in reference.PAGES:
            assert f"book/reference/{name}" in listed
            assert f"(reference/{name}.md)" in opening

    @pytest.mark.parametrize("name", reference.PAGES)
    def test_nothing_generated_is_in_the_source(self, name):
        """Kills a page whose figures were pasted: the source holds the mark, and the build puts the text there."""
        source = (BOOK / "reference" / f"{name}.md").read_text(encoding="utf-8")
        filled = reference.fill(f"book/reference/{name}", source, reference.PAGES[name]())
        assert reference.PAGES[name]() in filled
        assert not re.search(r"^(\||<d[lt]|- )", source, re.MULTILINE)

    def test_a_page_without_the_mark_is_refused(self):
        with pytest.raises(ValueError, match=r"book/reference/models.md must hold .* once, got it 0 times"):
            reference.fill("book/reference/models", "# Models\n", "")


class TestIdeas:
    def test_each_rests_on_earlier_ones(self):
        """Kills a circle, a name that nothing has, and a section that is not in the book."""
        seen: set[str] = set()
        for chapter in CHAPTERS:
            mine = {idea.name for idea in IDEAS if idea.chapter == chapter.number}
            assert mine, chapter.title
            assert {need for name in mine for need in named(name).needs} <= seen | mine
            seen |= mine
        assert len(seen) == len(IDEAS)
        assert {idea.section for idea in IDEAS} <= SECTIONS.keys()
        with pytest.raises(KeyError, match="gossip"):
            named("gossip")

    def test_no_idea_rests_on_itself_through_others(self):
        def below(name: str) -> set[str]:
            return {one for need in named(name).needs for one in (need, *below(need))}

        assert [idea.name for idea in IDEAS if idea.name in below(idea.name)] == []

    def test_boxes_stand_apart_and_inside(self):
        rows: dict[float, list[ideas.Box]] = {}
        for box in ideas.boxes().values():
            rows.setdefault(box.y, []).append(box)
        assert len(rows) == len(CHAPTERS)
        for row in rows.values():
            edges = [side for box in row for side in (box.x - box.width / 2, box.x + box.width / 2)]
            assert edges == sorted(edges)
            assert edges[0] > ideas.MARGIN
            assert edges[-1] < ideas.WIDTH

    def test_on_a_phone_a_chapter_has_as_many_rows_as_its_boxes_need(self):
        """Kills a map of which a phone shows the left half."""
        rows: dict[float, list[ideas.Box]] = {}
        for box in ideas.boxes(width=ideas.PHONE).values():
            rows.setdefault(box.y, []).append(box)
        assert len(rows) > len(CHAPTERS)
        for row in rows.values():
            assert len({box.idea.chapter for box in row}) == 1
            edges = [side for box in row for side in (box.x - box.width / 2, box.x + box.width / 2)]
            assert edges == sorted(edges)
            assert edges[0] > ideas.MARGIN
            assert edges[-1] < ideas.PHONE

    def test_each_box_is_a_link_and_each_need_a_line(self):
        drawn = ideas.text().partition('class="rz-phone"')[0]
        for idea in IDEAS:
            section = idea.section.replace(".", "-")
            assert f'.html#section-{section}" aria-label="{idea.name}: section {idea.section} ' in drawn
        assert drawn.count("<path") == sum(len(idea.needs) for idea in IDEAS)


@pytest.mark.parametrize("page", reference.MARKS)
def test_a_page_has_each_of_its_marks_once(page):
    """Kills a map that nobody sees."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    assert [mark for mark in reference.MARKS[page] if text.count(mark) != 1] == []


@HOURS
class TestOpening:
    @pytest.mark.parametrize(
        ("amounts", "parts", "cuts"),
        [([4, 1, 1, 1, 1], 2, [1]), ([1, 1, 1, 1, 4], 2, [4]), ([1, 2, 3], 3, [1, 2]), ([5], 1, [])],
    )
    def test_weeks_are_even(self, amounts, parts, cuts):
        assert routes.split(amounts, parts) == cuts

    def test_the_hours_of_a_schedule_and_a_topic(self):
        """Kills a week that leaves a chapter out, and hours that are typed: they are those of the rule."""
        found = [(one.reading + one.work) / 60 for one in routes.counted()]
        shown = routes.text()
        for weeks in routes.WEEKS:
            most = min(
                max(sum(found[start:end]) for start, end in pairwise((0, *cuts, len(found))))
                for cuts in combinations(range(1, len(found)), weeks - 1)
            )
            row = re.search(rf"\| {weeks} weeks \| at most {most:.0f} \| chapters (.*) \|", shown)
            ends = [tuple(map(int, part.split("–"))) for part in row[1].split(", ")]
            assert [n for part in ends for n in range(part[0], part[-1] + 1)] == [*range(1, 16)]
        serving = sum(found[number - 1] for number in routes.TOPICS["serving"])
        assert f"| serving | {serving:.0f} |" in shown


class TestWhy:
    def test_what_it_counts_is_counted(self):
        """Kills a typed number of questions, functions, mistakes or levels."""
        said = why.text()
        builds = bank.builds()
        questions = [item for item in bank.items() if not isinstance(item, Build)]
        assert f"There are {len(questions):,} questions" in said
        assert f"{len(builds)} functions to write or repair" in said
        assert f"knows {sum(len(item.slips) for item in builds):,} wrong versions" in said
        assert f"on {sum(map(teaching.graded_levels, bank.systems()))} levels" in said
        assert f"[{len(every())} numbers" in said

    def test_as_many_neighbours_are_named_as_it_says(self):
        assert "none of the four" in why.text()
        assert len(why.NEIGHBOURS) == 4


class TestForms:
    @pytest.mark.parametrize(
        "form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda p: p.stem
    )
    def test_a_form_asks_something_and_names_each_field_once(self, form):
        """Kills a form that GitHub refuses: a field without id or label, or two of one name."""
        asked = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= asked.keys()
        names = [field["id"] for field in asked["body"]]
        assert len({*names}) == len(names) > 0
        assert all(field["attributes"]["label"] for field in asked["body"])
        assert {field["type"] for field in asked["body"]} <= {"input", "textarea", "dropdown", "checkboxes"}

    def test_a_wrong_number_is_reported_with_page_claim_and_source(self):
        form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/wrong-number.yml").read_text(encoding="utf-8"))
        needed = [field["id"] for field in form["body"] if field["validations"]["required"]]
        assert needed == ["page", "claim", "source"]


@HOURS
class TestTeaching:
    def test_weeks_are_the_path_in_its_order(self):
        """Kills a section, a summary or a milestone that is in no week, or in two."""
        whole = sum(one.reading + one.work for one in routes.counted()) / 60
        assert sum(unit.hours for unit in teaching.units()) == pytest.approx(whole)
        for weeks in teaching.WEEKS:
            parts = teaching.cut(teaching.units(), weeks)
            assert len(parts) == weeks
            assert tuple(chain.from_iterable(parts)) == teaching.units()
        optional = {item.section for item in bank.builds() if item.bonus}
        taught = {unit.section for unit in teaching.units()}
        assert {item.section for item in bank.items() if not item.bonus} <= taught
        assert optional - taught  # deeper pages are in no week

    def test_a_milestone_is_due_after_the_sections_of_its_chapter(self):
        due = {unit.system.id: at for at, unit in enumerate(teaching.units()) if unit.system}
        assert due.keys() == {system.id for system in bank.systems()}
        for at in due.values():
            after = teaching.units()[at + 1 : at + 2]
            assert [unit.section.partition(".")[2] for unit in after] in (["1"], [])

    @pytest.mark.parametrize("weeks", [1, 2, 3, 4])
    def test_no_other_weeks_are_more_even(self, weeks):
        path = [teaching.Unit(f"1.{n}", hours, n in (3, 6)) for n, hours in enumerate((2, 1, 0.9, 1, 3, 1.2), 1)]
        mean = sum(unit.hours for unit in path) / weeks

        def cost(cuts: tuple[int, ...]) -> float:
            parts = [path[start:end] for start, end in pairwise((0, *cuts, len(path)))]
            uneven = sum((sum(unit.hours for unit in part) - mean) ** 2 for part in parts)
            return uneven + teaching.WITHIN * sum(not part[-1].ends for part in parts)

        found = tuple(accumulate(map(len, teaching.cut(path, weeks))))[:-1]
        assert cost(found) == pytest.approx(min(map(cost, combinations(range(1, len(path)), weeks - 1))))

    def test_too_many_weeks_are_refused(self):
        with pytest.raises(ValueError, match="1 units cannot fill 2 weeks"):
            teaching.cut([teaching.Unit("1.1", 1.0)], 2)

    def test_shares_of_a_grade_are_shares_of_hours(self):
        """Kills a table in which a bonus level counts, and one that leaves a kind of work out."""
        work = sum(page.work for page in routes.counted()) / 60
        assert sum(one.hours for one in teaching.works()) == pytest.approx(work)
        levels = {system.id: teaching.graded_levels(system) for system in bank.systems()}
        assert levels["14-rlhf"] == len(bank.systems()[2].levels) - 1
        shares = re.findall(r"\| (\d+) % \|", teaching.worth())
        assert len(shares) == len(teaching.works())
        assert sum(map(int, shares)) == pytest.approx(100, abs=3)

    def test_the_example_of_reasons_is_computed(self, monkeypatch):
        """Kills an example whose design does not lie where it says."""
        assert "18.3 s and 0.65 GPU-hours" in teaching.reasons()
        monkeypatch.setattr(teaching, "FASTER", (3, 64, 8))
        with pytest.raises(ValueError, match="no longer holds"):
            teaching.reasons()


class TestCorrections:
    def test_each_is_there_once_under_its_section(self):
        """Kills a correction that is lost on the way, and one that leads to a section that is not its own."""
        parts = re.split(r"^### (.+)$", corrections.text(), flags=re.MULTILINE)
        shown = dict(zip(parts[1::2], parts[2::2], strict=True))
        assert list(shown) == [one.title for found in corrections.by_section().values() for one in found]
        assert len(shown) == len(every())
        for one in every():
            assert inline(one.claim) in shown[one.title]
            assert inline(one.text) in shown[one.title]
            assert f"#section-{one.section.replace('.', '-')}" in shown[one.title]
            assert all(html.escape(call.function.__name__) in shown[one.title] for call in one.worked)

    def test_sections_are_those_of_the_book(self):
        assert {one.section for one in every()} <= set(SECTIONS)

    def test_the_chapter_follows_from_the_section(self):
        assert ONE.chapter == "03"
        assert replace(ONE, section="15.4").chapter == "cap"
        for chapter in CHAPTERS:
            package = __import__(f"experiments.{chapter.package}.corrections", fromlist=["CORRECTIONS"])
            assert {one.chapter for one in package.CORRECTIONS} <= {chapter.prefix}

    def test_markup_in_a_claim_is_text(self):
        """Kills a claim with < that the browser takes for a tag."""
        assert "&lt;b&gt;" in corrections.entry(replace(ONE, claim="a <b> c."), 1)

    def test_ids_are_unique(self):
        found = re.findall(r"^\((disagree-.+)\)=$", corrections.text(), flags=re.MULTILINE)
        assert len(set(found)) == len(found) == len(every())

    def test_a_call_is_shown_with_its_result(self):
        assert '<code><span class="rz-together">abs(-2)</span></code> is <code>2</code>' in corrections.entry(ONE, 1)
        assert "<dt>From</dt>" not in corrections.entry(ONE, 1)  # Python's own function stands in no module of ours


class TestRecords:
    def test_formulas(self):
        text = formulas.text()
        for formula in FORMULAS:
            assert f"### {formula.name}\n" in text
            assert f"= {latex(formula.law)} $$" in text

    @pytest.mark.parametrize(
        ("law", "shown"),
        [
            ("alpha + S/B", r"\alpha + \frac{S}{B}"),
            ("2*(N - 1)*S", r"2\, \left(N - 1\right)\, S"),
            ("1 - a**(k + 1)", r"1 - a^{k + 1}"),
            ("(a + b)**2", r"\left(a + b\right)^{2}"),
            ("a - (b - c)", r"a - \left(b - c\right)"),
            ("ceil(log2(N))*alpha_x", r"\lceil \log_2 N \rceil\, \alpha_{x}"),
            ("x*2", r"x \cdot 2"),
        ],
    )
    def test_laws_as_latex(self, law, shown):
        """Kills parentheses that are lost where they change the value."""
        assert latex(law) == shown

    def test_what_is_no_law_is_refused(self):
        with pytest.raises(ValueError, match="law must hold numbers, names"):
            latex("a if b else c")

    def test_every_gpu_link_node_and_model(self):
        for record in (*GPUS, *LINKS, *NODES):
            assert f"| {record.name} |" in hardware.text()
            assert inline(record.source) in hardware.text()
        assert all(models.text().count(f"| {model.name} |") == 2 for model in MODELS)

    def test_every_term(self):
        assert all(f'id="{glossary.anchor(term)}"' in glossary.text() for term in GLOSSARY)

    def test_every_program_with_a_command_that_starts_it(self):
        text = programs.text()
        shown = re.findall(r">python -m demos (\w+)", re.sub(r"</?span[^>]*>", "", text))
        assert sorted(shown) == sorted(names())

    def test_programs_name_the_sections_that_use_them(self):
        assert "3.7" in programs.mentions(CHAPTERS[2])["ring"] or "3.6" in programs.mentions(CHAPTERS[2])["ring"]

    def test_a_table_escapes_bars_and_aligns_numbers(self):
        assert table(("a", "b"), [("x|y", "1.5"), ("z", "2")]) == (
            "| a | b |\n| --- | ---: |\n| x\\|y | 1.5 |\n| z | 2 |\n"
        )


class TestBibliography:
    def test_every_number_that_a_chapter_cites_is_listed_once(self):
        """Kills a work that is lost, and one that is listed twice because two chapters print it differently."""
        listed = [work.text.lower() for work in bibliography.works()]
        for chapter in CHAPTERS:
            for entry in bibliography.bullets(chapter):
                for number in re.findall(r"arXiv:\d{4}\.\d{4,5}", entry):
                    assert sum(number.lower() in text for text in listed) == 1, number

    def test_notes_go_and_authors_stay(self):
        entry = 'A. Bee et al., "One", 2020, arXiv:2001.00001, section 3: a note; "Two", 2021, arXiv:2101.00002 (more)'
        assert bibliography.cited(entry) == [
            'A. Bee et al., "One", 2020, arXiv:2001.00001',
            'A. Bee et al., "Two", 2021, arXiv:2101.00002',
        ]

    def test_where_a_long_line_may_end(self):
        """Kills a command that is broken inside of an option, and a name that is broken inside of a word."""
        assert command("run --top-k 2 a<b") == '<code>run <span class="rz-together">--top-k</span> 2 a&lt;b</code>'
        assert dotted("solutions.ch01.scale") == "<code>solutions.<wbr>ch01.<wbr>scale</code>"

    def test_numbers_are_links(self):
        assert inline("doi:10.1145/42411.42415.") == (
            '<a href="https://doi.org/10.1145/42411.42415">doi:10.1145/42411.42415</a>.'
        )
        assert "https://arxiv.org/abs/1910.02054" in inline("ZeRO, arXiv:1910.02054, section 7")
        assert (
            inline("see [a_b.cc](https://x.org/a_b.cc), line 3")
            == 'see <a href="https://x.org/a_b.cc">a_b.cc</a>, line 3'
        )


@pytest.mark.proof(part="pages")
def test_links_between_a_chapter_and_its_corrections(tmp_path):
    """A little book with one section of chapter 3: its link leads to an id of the page of corrections, and back."""
    book = tmp_path / "course" / "book"
    (book / "reference").mkdir(parents=True)
    course = book.parent
    (course / "_config.yml").write_text((ROOT / "_config.yml").read_text(encoding="utf-8"), encoding="utf-8")
    toc = {
        "format": "jb-book",
        "root": "book/intro",
        "chapters": [{"file": f"book/{name}"} for name in ("03-collectives", "reference/numbers-that-disagree")],
    }
    (course / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (book / "intro.md").write_text("# A course\n", encoding="utf-8")
    (book / "03-collectives.md").write_text(
        "# 3. C\n\n## 3.8 Time\n\nText.\n\n### Part\n\n## Summary\n", encoding="utf-8"
    )
    page = "reference/numbers-that-disagree"
    (book / f"{page}.md").write_text(f"# Numbers\n\n{reference.MARK}\n", encoding="utf-8")
    command = [sys.executable, "-m", "tools.build_book", "--source", str(course), "--output", str(course / "html")]
    built = subprocess.run([*command, "--cache", str(course / "cache")], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    chapter = (course / "html" / "book" / "03-collectives.html").read_text(encoding="utf-8")
    numbers = (course / "html" / "book" / f"{page}.html").read_text(encoding="utf-8")
    links = re.findall(rf'href="{page}\.html#([^"]+)"[^>]*>([^<]+)<', chapter)
    titles = [one.title for one in every() if one.section == "3.8"]
    assert links == [(corrections.anchor("3.8", number), title) for number, title in enumerate(titles, 1)] != []
    assert f'id="{links[0][0]}"' in numbers
    assert html.unescape(section_link("3.8", "3.8 Time")) in numbers
    assert 'id="section-3-8"' in chapter
