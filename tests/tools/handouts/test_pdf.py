"""The book as one PDF: the pages of the contents in their order, with bookmarks that lead to the right sheets."""

import io

import pytest
import yaml

from tools.build_book import pages
from tools.common import ROOT
from tools.handouts import pdf

pypdf = pytest.importorskip("pypdf")


def a_print(sheets: int, title: str, **sections: int) -> pdf.Print:
    """What Chromium prints of a page: a bookmark for its title, and below it those of its sections."""
    writer = pypdf.PdfWriter()
    for _ in range(sheets):
        writer.add_blank_page(width=100, height=100)
    top = writer.add_outline_item(title=title, page_number=0)
    for section, sheet in sections.items():
        writer.add_outline_item(title=section, page_number=sheet, parent=top)
    result = io.BytesIO()
    writer.write(result)
    return pdf.Print(result.getvalue(), ("Rank Zero", "1. First", "1.1 Talk to each", "Deeper"))


def marks(reader, outline) -> list:
    return [
        marks(reader, one) if isinstance(one, list) else (one.title, reader.get_destination_page_number(one))
        for one in outline
    ]


def test_all_pages_of_the_book_in_its_order():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [entry.page for entry in pdf.entries(toc)]
    assert found == [path.relative_to(ROOT).with_suffix("").as_posix() for path in pages()]
    assert [entry.part for entry in pdf.entries(toc)][:2] == ["", "I. Foundations"]


def test_bookmarks_lead_to_the_sheets_of_the_whole():
    """Kills bookmarks that count from the beginning of their own page, and a deeper page that stands beside its own."""
    prints = [
        (pdf.Entry("", "book/intro"), a_print(2, "Rank Zero", Contents=0, Map=1)),
        (pdf.Entry("I", "book/01"), a_print(3, "1. First", **{"1.1 Talkto each1.1 Talkto each": 2})),
        (pdf.Entry("I", "book/deeper/01", 1), a_print(1, "Deeper")),
        (pdf.Entry("II", "book/02"), a_print(1, "2. Second")),
    ]
    reader = pypdf.PdfReader(io.BytesIO(pdf.join(prints, "Rank Zero")))
    assert len(reader.pages) == 7
    assert reader.metadata.title == "Rank Zero"
    assert marks(reader, reader.outline) == [
        *(("Rank Zero", 0), [("Map", 1)]),
        *(("I", 2), [("1. First", 2), [("1.1 Talk to each", 4), ("Deeper", 5)]]),
        *(("II", 6), [("2. Second", 6)]),
    ]


def test_an_unknown_page_is_refused(tmp_path, capsys):
    """Kills a PDF without sheets in place of the whole one."""
    out = tmp_path / "one.pdf"
    assert pdf.main(["--out", str(out), "--only", "book/intro", "book/nonesuch"]) == 1
    assert "there is no page book/nonesuch; pages are named as in _toc.yml, such as book/" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        pdf.main(["--out", str(out), "--only"])
    assert not out.exists()
