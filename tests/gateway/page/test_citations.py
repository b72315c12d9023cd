"""A citation is one line, whatever a document lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_gateway.page.citations import STYLES, cite, written_date
from ibidem_ingest.document import Document


@pytest.mark.parametrize("style", STYLES)
@given(title=st.text(), source=st.text(), date=st.sampled_from(["", "1987", "1987-03", "1987-03-05", "1987-13"]))
def test_every_document_has_one_line(style: str, title: str, source: str, date: str) -> None:
    line = cite(Document("a", "text", title=title, source=source, date=date), style)
    assert line
    assert len(line.splitlines()) == 1


def test_a_document_without_date_says_so_where_the_style_asks_for_one() -> None:
    assert cite(Document("a", "text", title="Lease"), "apa") == "Lease. (n.d.)."


def test_a_date_is_as_exact_as_it_is() -> None:
    assert [written_date(each, style="chicago") for each in ("1987", "1987-05")] == ["1987", "May 1987"]
