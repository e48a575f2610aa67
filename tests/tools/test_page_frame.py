"""Around the text of a built page: one bar with the buttons that work, and a title that is said once."""

from __future__ import annotations

import re

import pytest

from tools import finish

BAR = """<header id="pst-header" class="bd-header navbar">
<button class="pst-navbar-icon sidebar-toggle primary-toggle"></button>
<button class="pst-navbar-icon sidebar-toggle secondary-toggle"></button></header>
<header class="other">kept</header>
<button class="sidebar-toggle primary-toggle btn"></button>
<button class="sidebar-toggle secondary-toggle btn"></button>"""


def test_the_buttons_that_show_are_the_first_of_their_kind():
    """Kills a page whose theme binds a menu button that nobody sees; the bar that it measures stays, empty."""
    page = finish.with_one_bar(BAR)
    for name in ("primary", "secondary"):
        assert re.findall(rf'class="([^"]*{name}-toggle[^"]*)"', page) == [f"sidebar-toggle {name}-toggle btn"]
    assert '<header id="pst-header" class="bd-header navbar"></header>' in page
    assert '<header class="other">kept</header>' in page
    assert finish.with_one_bar(page) == page


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Rank Zero &#8212; Rank Zero", "Rank Zero"),
        ("Rank Zero — Rank Zero", "Rank Zero"),
        ("4. Topology &#8212; Rank Zero", "4. Topology &#8212; Rank Zero"),
        ("Rank Zero and more &#8212; Rank Zero", "Rank Zero and more &#8212; Rank Zero"),
    ],
)
def test_a_tab_says_no_name_twice(title, shown):
    assert finish.with_one_title(f"<head><title>{title}</title></head>") == f"<head><title>{shown}</title></head>"
