"""The last step of a build: what pages lose, what they get, and that a second time changes nothing."""

from __future__ import annotations

import json

import pytest

from tools import finish, icons, mathematics, search_index

PAGE = r"""<!DOCTYPE html><html lang="en" data-content_root="../"><head>
<script defer src="../_static/scripts/fontawesome.js?digest=5"></script>
<script>window.MathJax = {"options": {}}</script>
<script defer="defer" src="../_static/vendor/mathjax/tex-svg.js?v=5"></script>
<script src="../_static/searchtools.js"></script><script src="../searchindex.js"></script>
<script defer="defer" src="../_static/rankzero.js?v=1"></script>
</head><body><i class="theme-switch fa-solid fa-sun fa-lg" data-mode="light" aria-hidden="true"></i>
<article class="bd-article"><section id="top"><h1>3. A page<a class="headerlink" href="#top">#</a></h1>
<p>Before <span class="math notranslate nohighlight">\(x\)</span>.</p>
<section id="one"><h2>3.1 A ring<a class="headerlink" href="#one">#</a></h2>
<p>Around, with <code>a<b>(</b>b)</code>.</p>
<section class="rz-card" id="rz-03-x"><p>A question.</p><svg><text>drawn</text></svg>
<details class="rz-derivation"><summary>Derivation</summary><p>It is <b>two</b>.</p></details></section>
<div data-veil="03-x" class="rz-after"><p>Two it was.</p></div></section></section>
</article></body></html>"""


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A folder as Sphinx leaves it, with everything at hand that finishing needs; KaTeX is played."""
    (tmp_path / "book").mkdir()
    (tmp_path / "_static" / "styles").mkdir(parents=True)
    (tmp_path / "_static" / "styles" / "pydata-sphinx-theme.css").write_text(
        "p{}.fa,.fas{a:b}.fa-sun:before{c:d}.fade{e:f}"
    )
    (tmp_path / "book" / "03-page.html").write_text(PAGE)
    vendor = tmp_path / "static" / "vendor"
    (vendor / "minisearch").mkdir(parents=True)
    monkeypatch.setattr(finish, "VENDOR", vendor)
    monkeypatch.setattr(mathematics, "why_not", lambda: "")
    made = '<span class="katex"><math><mi>x</mi></math></span>'
    monkeypatch.setattr(mathematics, "typeset", lambda wanted: dict.fromkeys(wanted, made))
    return tmp_path


def finished(folder) -> str:
    finish.finish(folder, ["book/03-page"])
    return (folder / "book" / "03-page.html").read_text()


class TestFinish:
    def test_what_a_page_loads(self, built):
        """Neither the script of the icons, nor that of mathematics, nor the index; its own scripts stay."""
        page = finished(built)
        for name in ("fontawesome", "mathjax", "MathJax", "searchtools", "searchindex"):
            assert name not in page
        for name in ("rankzero.js?v=1", "search.js", "formulas.js", "light.css", "vendor/katex/katex.min.css"):
            assert page.count(f"../_static/{name}") == 1
        assert '<svg class="rz-icon theme-switch fa-solid fa-sun fa-lg" data-mode="light" aria-hidden="true"' in page
        assert '<span class="katex">' in page

    def test_twice_is_once(self, built):
        """Kills a build that adds its lines again to a page that Sphinx did not write anew."""
        assert finished(built) == finished(built)

    def test_without_node_the_script_stays(self, built, monkeypatch, capsys):
        """Formulas are set when the page is read, as before, and the build says so and why."""
        monkeypatch.setattr(mathematics, "why_not", lambda: "node is missing")
        assert r"\(x\)" in finished(built)
        assert "vendor/mathjax/tex-svg.js" in finished(built)
        assert "mathematics is set by a script when a page is read: node is missing" in capsys.readouterr().out

    def test_without_minisearch_sphinx_searches(self, built, monkeypatch, capsys):
        monkeypatch.setattr(finish, "VENDOR", built / "nowhere" / "vendor")
        page = finished(built)
        assert "searchtools.js" in page
        assert "_static/search.js" not in page
        assert "search finds pages, not sections" in capsys.readouterr().out

    def test_files_that_changed_are_copied(self, built):
        """Kills a build that shows yesterday's script because no page changed."""
        finished(built)
        assert (built / "_static" / "rankzero.js").exists()

    def test_the_style_sheet_loses_the_names_of_icons(self, built):
        finished(built)
        assert (built / "_static" / "styles" / "pydata-sphinx-theme.css").read_text() == "p{}.fade{e:f}"


class TestIcons:
    def test_an_unknown_icon_is_named(self):
        """Kills a page with a hole where the theme's next version shows a new icon."""
        with pytest.raises(ValueError, match=r"an icon must be one of .*got 'fas fa-dragon'"):
            icons.draw('<i class="fas fa-dragon"></i>')

    def test_the_theme_has_two_ways_to_write_one(self):
        """Kills a phone without the button that opens the table of contents: it is a span."""
        assert icons.draw('<span class="fa-solid fa-bars"></span>').startswith('<svg class="rz-icon fa-solid fa-bars"')

    def test_emphasis_is_no_icon(self):
        assert icons.draw("<i>far</i><i class='x'>fast</i>") == "<i>far</i><i class='x'>fast</i>"


class TestSections:
    def test_a_section_is_found_by_its_own_words(self):
        """Kills an index in which a page's first section holds the text of all others; code keeps its form, and cards
        belong to their section."""
        top, one = list(search_index.sections(PAGE))[::-1]
        assert (top["id"], top["title"], top["text"]) == ("top", "3. A page", r"Before \(x\) .")
        assert (one["id"], one["title"]) == ("one", "3.1 A ring")
        assert one["text"] == "Around, with a(b) . A question."

    def test_what_is_closed_is_apart(self):
        """Kills an excerpt that tells an answer: what waits for one, and its derivation, are searched and not shown."""
        top, one = list(search_index.sections(PAGE))[::-1]
        assert (top["closed"], one["closed"]) == ("", "Derivation It is two . Two it was.")

    def test_the_script_names_page_and_place(self, built):
        finished(built)
        text = (built / "_static" / "search-data.js").read_text()
        found = json.loads(text.removeprefix("window.rankzeroSections = ").rstrip(";\n"))
        assert [(one["page"], one["id"], one["of"]) for one in found] == [
            ("book/03-page", "top", "3. A page"),
            ("book/03-page", "one", "3. A page"),
        ]


def test_a_chart_has_one_name():
    """Kills a chart each of whose marks is read out; a second time changes nothing."""
    chart = '<div class="rz-chart" role="img" aria-label="Time"><svg xmlns="x"><g role="graphics-symbol"/></svg></div>'
    once = finish.with_named_charts(chart)
    assert '<svg aria-hidden="true" xmlns="x">' in once
    assert finish.with_named_charts(once) == once
