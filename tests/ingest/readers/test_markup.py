"""Texts of fields in HTML or Markdown are read as a browser shows them."""

import json
from pathlib import Path

import pytest

from ibidem_ingest.readers.formats import Choice
from ibidem_ingest.readers.inputs import read
from support.readings import parted

SEEN = "The duty on grain was raised & nobody paid."
WRITTEN = (
    SEEN.replace("&", "&amp;"),
    SEEN.replace("&", "&amp;amp;"),
    f"<p>{SEEN}</p>",
    f"<!-- wp:paragraph --><p class=lead><i>{SEEN[:5]}</i>{SEEN[5:]}</p><style>p {{}}</style>",
    "<div>The duty on grain<br>was raised &#38; nobody&nbsp;paid.</div><script>let paid = 1</script>",
)


@pytest.mark.parametrize(
    ("name", "head", "row"), [("a.jsonl", "", '{{"id": "{}", "text": "{}"}}'), ("a.csv", "id,text\n", '{},"{}"')]
)
def test_markup_is_no_text_and_entities_are_letters(tmp_path: Path, name: str, head: str, row: str) -> None:
    (tmp_path / name).write_text(head + "\n".join(row.format(at, text) for at, text in enumerate(WRITTEN)))
    found, _ = parted(read([tmp_path / name], Choice(text_format="html")))
    assert [" ".join(each.text.split()) for each in found] == [SEEN] * len(WRITTEN)


@pytest.mark.parametrize(
    ("format_", "pages", "none"),
    [("markdown", "# One\n*two*\f[three](x.html)", "***"), ("html", "<p>One<p>two\f<i>three", "<!-- wp:spacer -->")],
)
def test_pages_remain_and_text_without_words_is_refused(tmp_path: Path, format_: str, pages: str, none: str) -> None:
    records = [{"id": "a", "text": pages}, {"id": "b", "text": none}]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(each) for each in records))
    (document,), (refusal,) = parted(read([tmp_path / "a.jsonl"], Choice(text_format=format_)))
    assert document.pages == ("One\n\ntwo", "three")
    assert (refusal.where, refusal.id, refusal.field) == (f"{tmp_path}/a.jsonl:2", "b", "text")
    assert "without words; leave it out" in refusal.why


def test_a_text_that_was_escaped_very_often_takes_no_longer_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": f"one &{'amp;' * 200_000}"}))
    (document,), _ = parted(read([tmp_path / "a.jsonl"], Choice(text_format="html")))
    assert document.text.startswith("one &amp;amp;")
