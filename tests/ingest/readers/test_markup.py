"""Texts of fields in HTML or Markdown are read as a browser shows them."""

import json
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers.formats import Choice
from ibidem_ingest.readers.inputs import read

SEEN = "The duty on grain was raised & nobody paid."
# The same words as browsers show, escaped and marked up in the ways of exports and editors.
WRITTEN = (
    SEEN.replace("&", "&amp;"),
    SEEN.replace("&", "&amp;amp;"),
    f"<p>{SEEN}</p>",
    f'<!-- wp:paragraph {{"align":"left"}} --><p class="lead"><i>{SEEN[:5]}</i>{SEEN[5:]}</p><style>p {{}}</style>',
    "<div>The duty on grain<br>was raised &#38; nobody&nbsp;paid.</div><script>let paid = 1</script>",
)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_markup_is_no_text_and_entities_are_letters(tmp_path: Path, name: str) -> None:
    if name == "a.jsonl":
        lines = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(WRITTEN)]
    else:
        quoted = [text.replace('"', '""') for text in WRITTEN]
        lines = ["id,text", *(f'{at},"{text}"' for at, text in enumerate(quoted))]
    (tmp_path / name).write_text("\n".join(lines))
    found = list(read([tmp_path / name], Choice(text_format="html")))
    assert [" ".join(each.text.split()) for each in found if isinstance(each, Document)] == [SEEN] * len(WRITTEN)


def test_pages_remain_pages_and_text_without_words_is_refused(tmp_path: Path) -> None:
    records = [{"id": "a", "text": "# One\n*two*\f[three](x.html)"}, {"id": "b", "text": "***"}]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(each) for each in records))
    document, refusal = read([tmp_path / "a.jsonl"], Choice(text_format="markdown"))
    assert isinstance(document, Document)
    assert document.pages == ("One\n\ntwo", "three")
    assert isinstance(refusal, Refusal)
    assert (refusal.where, refusal.id, refusal.field) == (f"{tmp_path}/a.jsonl:2", "b", "text")


def test_an_unknown_format_is_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="html, markdown"):
        Choice(text_format="rtf")
