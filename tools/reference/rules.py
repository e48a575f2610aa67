"""Rules of thumb: a line each, with a case in which it holds and one in which it does not, both computed."""

from __future__ import annotations

from html import escape

from experiments.rules_of_thumb import RULES, Case, Rule

from .markup import section_link

_HEAD = ("Rule", "Holds for", "In range: rule, exact", "Beyond: rule, exact")


def _case(rule: Rule, case: Case) -> str:
    values = f"{escape(rule.shown(case.rule))}, <b>{escape(rule.shown(case.course))}</b>"
    return f"{escape(case.said)}: {values}"


def _row(rule: Rule) -> str:
    link = section_link(rule.section)
    name = f'<th scope="row"><b>{escape(rule.topic)}</b> {escape(rule.text)} <span>{link}</span></th>'
    cells = (escape(rule.holds), _case(rule, rule.within()), _case(rule, rule.beyond()))
    return f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def text() -> str:
    """The page's generated part."""
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    rows = "\n".join(map(_row, RULES))
    return (
        f'<div class="rz-scroll">\n<table class="rz-rules">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n"
    )
