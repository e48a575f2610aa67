"""Which results, explanations and explorers of a page wait for which questions, and what a page gets for it."""

from __future__ import annotations

import re

import pytest

from tools import finish, search_index, veil

HEADING = "<section><h2>3.1 A ring</h2>"
RUN = '<div class="cell docutils container"><div class="cell_output docutils container"><pre>42</pre></div></div>'
EXPLORER = RUN.replace("<pre>42</pre>", '<figure class="rz-explorer" data-module="m"></figure>')
CHECK = RUN.replace("<pre>42</pre>", '<section class="rz-card" id="rz-03-ring"><p>Write it.</p></section>')
TEXT = '<div class="rz-after">\n<p>So it is.</p>\n</div>'
REMEMBER = TEXT.replace("rz-after", "rz-takeaway")
TASK = "<section><h3>Build <code>ring</code></h3>"
CODE = '<div class="cell_input docutils container"><pre>print(6 * 7)</pre></div>'
SHOWN = RUN.replace('<div class="cell_output', f'{CODE}<div class="cell_output')
USE = SHOWN.replace('class="cell docutils', 'class="cell tag_uses-03-ring docutils')


def asked(name: str) -> str:
    card = f'<section class="rz-card" id="rz-{name}" data-card="{{&quot;id&quot;: 1}}"><p>How many?</p></section>'
    return RUN.replace("<pre>42</pre>", card)


def page(*parts: str) -> str:
    body = f'<h1>In print</h1><article class="bd-article"><h1>3. A page</h1>{"".join(parts)}</article>'
    return f'<html data-content_root="../"><head>\n  </head><body>{body}</body></html>'


def marked(*parts: str) -> list[str]:
    """The questions of each result, explanation and explorer of a page; an empty word for none."""
    html = veil.veiled(page(*parts))
    kinds = '(?:data-veil-row )?class="(?:cell_output docutils container"><(?:pre|figure)|rz-after")'
    outputs = re.findall(rf'<div (?:data-veil="([^"]*)" )?{kinds}', html)
    assert html.count(" data-veil=") == len([one for one in outputs if one])
    return outputs


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((HEADING, RUN), [""]),
        ((HEADING, RUN, asked("a"), RUN, RUN), ["", "a", "a"]),
        ((HEADING, asked("a"), asked("b"), RUN), ["a b"]),
        ((HEADING, asked("a"), RUN, asked("b"), RUN), ["a", "b"]),
        ((HEADING, asked("a"), RUN, asked("b"), asked("c")), ["a"]),
        ((HEADING, asked("a"), RUN, asked("b"), asked("c"), RUN), ["a", "b c"]),
        ((HEADING, asked("a"), HEADING, RUN), [""]),
        ((HEADING, asked("a"), TASK, CHECK, RUN), ["a"]),
        ((HEADING, EXPLORER, asked("a"), EXPLORER, RUN, CHECK, EXPLORER), ["", "a", "a", "a"]),
        ((HEADING, asked("a"), RUN, asked("b"), EXPLORER, RUN), ["a", "a b", "b"]),
        ((HEADING, asked("a"), EXPLORER, asked("b"), EXPLORER, RUN), ["a", "a b", "a b"]),
        ((HEADING, asked("a"), HEADING, EXPLORER, CHECK, EXPLORER), ["", ""]),
        ((HEADING, CHECK, RUN), [""]),
        ((HEADING, TEXT, asked("a"), TEXT), ["", "a"]),
        ((HEADING, asked("a"), RUN, TEXT, RUN), ["a", "a", "a"]),
        ((HEADING, asked("a"), TEXT, asked("b"), RUN), ["a", "b"]),
        ((HEADING, asked("a"), asked("b"), TEXT, asked("c")), ["a b"]),
        ((HEADING, asked("a"), HEADING, TEXT), [""]),
        ((HEADING, asked("a"), EXPLORER, TEXT, CHECK), ["a", "a"]),
    ],
)
def test_a_result_waits_for_the_questions_before_it(parts, wanted):
    """Kills a veil over a card or over something without a question, one into the next section, an explanation that is
    open, and an explorer that opens while an earlier question of its section is unanswered."""
    assert marked(*parts) == wanted


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((HEADING, asked("a"), RUN, REMEMBER), ["a", "a"]),
        ((HEADING, asked("a"), RUN, asked("b"), RUN, REMEMBER), ["a", "b", "a b"]),
        ((HEADING, asked("a"), RUN, HEADING, RUN, REMEMBER), ["a", "", ""]),
        ((HEADING, asked("a"), REMEMBER, asked("b"), RUN), ["a", "a b"]),
    ],
)
def test_what_is_to_be_remembered_waits_for_its_section(parts, wanted):
    """Kills a sentence that holds the answer and stays open below a veiled result."""
    html = veil.veiled(page(*parts))
    kinds = 'class="(?:cell_output docutils container"><pre|rz-after"|rz-takeaway")'
    assert re.findall(rf'<div (?:data-veil="([^"]*)" )?(?:data-veil-row )?{kinds}', html) == wanted


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((HEADING, asked("a"), CHECK, USE), ["03-ring"]),
        ((HEADING, asked("a"), SHOWN, CHECK, USE, TEXT), ["", "03-ring", "03-ring"]),
        ((HEADING, asked("a"), CHECK, USE, SHOWN, TEXT), ["03-ring", "", ""]),
        ((HEADING, CHECK, asked("a"), USE), [""]),  # the question is about what the function gives
        ((HEADING, asked("a"), CHECK, USE, asked("b"), USE), ["03-ring", ""]),
        ((HEADING, CHECK, HEADING, asked("a"), USE), [""]),
        ((HEADING, asked("a"), CHECK, SHOWN), [""]),
    ],
)
def test_what_the_readers_function_gives_opens_with_it(parts, wanted):
    """Kills a result of the reader's own function that stays veiled by a question before the function."""
    html = veil.veiled(page(*parts))
    assert re.findall(r'data-veil="[^"]*" (?:data-veil-own="([^"]*)" )?', html) == wanted


def test_the_line_of_a_readers_function_leads_to_it():
    html = veil.veiled(page(HEADING, asked("a"), CHECK, USE))
    assert 'question above</a> or finish <a href="#rz-03-ring">the function</a> first, or <button' in html


STAYS = '<p class="rz-stays" hidden data-cell="run">Runs in a notebook only: it measures.</p>'


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        ((RUN, TEXT, REMEMBER), [False, True, True]),
        ((SHOWN, SHOWN, TEXT), [False, False, True]),
        ((RUN, STAYS, TEXT), [False, True]),
        ((RUN, '<div class="rz-ranks" hidden data-ranks="{}"></div>', TEXT), [False, True]),
        ((RUN, "<p>Then:</p>", TEXT), [False, False]),
        ((RUN, asked("b"), TEXT), [False, False]),
        ((RUN, '<p><img src="x.png"></p>', RUN), [False, False]),
    ],
)
def test_lines_with_nothing_between_them_are_a_row(parts, rows):
    """Kills two or three lines in a row that all say the same."""
    html = veil.veiled(page(HEADING, asked("a"), *parts))
    assert [bool(row) for row in re.findall(r'data-veil="[^"]*" (data-veil-row )?', html)] == rows


def test_a_line_stands_before_each_result():
    """It leads to the questions; a second result of the same questions has no second button."""
    html = veil.veiled(page(HEADING, asked("a"), RUN, RUN, asked("b"), asked("c"), RUN))
    lines = re.findall(r'<p class="rz-veil">(.*?)</p><div data-veil', html)
    assert len(lines) == 3
    assert lines[0].startswith('Answer <a href="#rz-a">the question above</a> first, or <button type="button">')
    assert "<button" not in lines[1]
    assert '(<a href="#rz-b">b</a>, <a href="#rz-c">c</a>)' in lines[2]


def test_a_line_names_what_waits():
    """An explanation without a result before it has the button; below one, no second button, and what it opens with."""
    html = veil.veiled(page(HEADING, asked("a"), TEXT, RUN, asked("b"), RUN, TEXT, RUN))
    lines = re.findall(r'<p class="rz-veil">(.*?)</p><div data-veil', html)
    assert lines[0].endswith('first, or <button type="button">show the explanation</button>.')
    assert lines[1] == 'This result opens with the explanation above, after <a href="#rz-a">the same question</a>.'
    assert lines[2].endswith('first, or <button type="button">show the result</button>.')
    assert lines[3:] == [
        'This explanation opens with the result above, after <a href="#rz-b">the same question</a>.',
        'This result opens with the one above, after <a href="#rz-b">the same question</a>.',
    ]


def test_a_line_names_an_explorer():
    """Results around an explorer that waits for more questions than they do have one button."""
    html = veil.veiled(page(HEADING, asked("a"), RUN, EXPLORER, asked("b"), RUN, EXPLORER, RUN))
    lines = re.findall(r'<p class="rz-veil">(.*?)</p><div data-veil', html)
    assert lines[1] == 'This explorer opens with the result above, after <a href="#rz-a">the same question</a>.'
    assert '(<a href="#rz-a">a</a>, <a href="#rz-b">b</a>)' in lines[3]
    assert lines[3].endswith('or <button type="button">show the explorer</button>.')
    assert lines[4] == 'This result opens with the one above, after <a href="#rz-b">the same question</a>.'


def titled(name: str, title: str) -> str:
    return asked(name).replace("<p>How many?</p>", f'<form><legend class="rz-title">{title}</legend></form>')


def test_a_line_names_few_questions_by_their_titles_and_numbers_many():
    """Kills a line that shows ids, one that takes the title of the card below, and one as long as a paragraph."""
    cards = [titled(name, f"Case &quot;{name}&quot;") for name in "abcd"]
    lines = re.findall(
        r'<p class="rz-veil">(.*?)</p>', veil.veiled(page(HEADING, *cards[:2], RUN, HEADING, *cards, RUN))
    )
    assert '(<a href="#rz-a">Case &quot;a&quot;</a>, <a href="#rz-b">Case &quot;b&quot;</a>), or' in lines[0]
    assert "Answer the 4 questions above first (<a" in lines[1]
    assert re.findall(r">(\d)</a>", lines[1]) == ["1", "2", "3", "4"]
    assert 'title="Case &quot;d&quot;" aria-label="Question 4: Case &quot;d&quot;">4</a>' in lines[1]


def test_a_card_without_a_title_goes_by_its_id():
    (line,) = re.findall(
        r'<p class="rz-veil">(.*?)</p>', veil.veiled(page(HEADING, asked("a"), titled("b", "Two"), RUN))
    )
    assert '(<a href="#rz-a">a</a>, <a href="#rz-b">Two</a>)' in line


@pytest.mark.parametrize(("parts", "told"), [((EXPLORER, asked("a")), True), ((asked("a"), EXPLORER), False)])
def test_the_search_tells_nothing_of_a_veiled_explorer(parts, told):
    """Kills an excerpt that prints the read-out of an explorer before the question is answered."""
    figure = 'data-module="m"><figcaption>Forty-two it is.</figcaption>'
    html = veil.veiled(page('<section id="ring"><h2>3.1 A ring</h2>', *parts).replace('data-module="m">', figure))
    (section,) = search_index.sections(html)
    assert ("Forty-two" in section["text"], "Forty-two" in section["closed"]) == (told, not told)


def test_the_switch_stands_below_the_title_of_the_article():
    html = veil.veiled(page(HEADING, asked("a"), RUN))
    assert "<h1>3. A page</h1>\n" + veil.SWITCH in html
    assert html.count("rz-everything") == 1


@pytest.mark.parametrize("parts", [(HEADING,), (HEADING, RUN, asked("a")), ()])
def test_a_page_without_results_stays_as_it_is(parts):
    assert finish.with_veils(page(*parts)) == page(*parts)


def test_twice_is_once():
    once = finish.with_veils(page(HEADING, asked("a"), RUN))
    assert finish.with_veils(once) == once
    assert once.count('<script src="../_static/veil.js"></script>') == 1  # not deferred: nothing is drawn yet
    assert once.count("../_static/veil.css") == 1
