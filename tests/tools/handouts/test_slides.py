"""Slides: what each section asks, shows and keeps, in one file that needs nothing else."""

import re

import pytest

from rankzero.facts.chapters import CHAPTERS
from tools.handouts import slides

PAGE = """<article class="bd-article"><section id="c"><h1>3. Collectives<a class="headerlink" href="#c">#</a></h1>
<section id="ring"><span id="section-3-6"></span><h2>3.6 Ring<a class="headerlink" href="#ring">#</a></h2>
<p>Who adds, and <a href="deeper/x.html#section-3-20">why</a>? <span class="katex"><span class="katex-mathml"><math>
<mi>N</mi></math></span><span class="katex-html">N</span></span></p>
<div class="cell"><figure class="rz-stepper"><fieldset class="rz-controls"><button>Next</button></fieldset>
<ol class="rz-frames">
<li><svg aria-label="one"></svg><p>First.</p></li><li><svg aria-label="two"></svg><p>Then.</p></li>
</ol></figure></div>
<p>Between.</p><p><strong>Predict:</strong> how many bytes?</p>
<div class="cell"><section class="rz-card" data-card='{"correct": "b"}' id="rz-03-x">
<p class="rz-option"><label><input type="radio"/> <span>a) all</span></label></p>
<details class="rz-derivation">the answer</details></section></div>
<div class="rz-takeaway"><blockquote><p><strong>Remember:</strong> half.</p></blockquote></div></section>
<section id="summary"><h2>Summary</h2><p>No slide.</p></section></section></article>"""


@pytest.fixture
def made(tmp_path, monkeypatch) -> str:
    for name, text in (("reveal.js", 'Reveal = "</script>";'), ("reveal.css", ".reveal {}")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(slides, "REVEAL", tmp_path)
    monkeypatch.setattr(slides, "BOOK", "https://example.org/book")
    return slides.chapter_slides(CHAPTERS[2], PAGE)


def test_a_section_has_its_question_each_step_what_is_asked_and_what_to_remember(made):
    """Kills a slide that shows the answer, and a stepper of which one step is left."""
    shown = re.findall(r"<section><h2>3\.6 Ring</h2>(.*?)</section>", made, re.DOTALL)
    assert ["Who adds" in shown[0], "one" in shown[1], "two" in shown[2]] == [True] * 3
    assert "First." in shown[1]
    assert "how many bytes?" in shown[3]
    assert "<li><span>a) all</span></li>" in shown[3]
    assert "Between." not in shown[3]
    assert "half." in shown[4]
    assert len(shown) == 5
    assert "the answer" not in made
    assert "No slide." not in made


def test_a_file_needs_nothing_else(made):
    """Kills a script that ends early, a formula without its fonts, and a link that leads out of the folder."""
    assert made.count("</script>") == 2
    assert "katex" not in made
    assert "<math>" in made
    assert 'href="https://example.org/book/deeper/x.html#section-3-20"' in made
    assert re.findall(r'(?:src|href)="(?!https://example\.org)', made) == []


def test_without_a_book_it_says_what_is_missing(tmp_path, capsys):
    assert slides.main(["--html", str(tmp_path)]) == 1
    assert "there is no built book" in capsys.readouterr().err


def test_an_unknown_chapter_is_refused(capsys):
    assert slides.main(["3", "99"]) == 1
    assert capsys.readouterr().err == f"there is no chapter 99; there are 1 to {len(CHAPTERS)}\n"
