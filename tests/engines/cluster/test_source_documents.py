"""Documents as a server gives them: each with its own JSON, to the byte."""

import json

from hypothesis import given
from hypothesis import strategies as st

from engines.cluster.test_source_values import OBJECTS, STYLES, write_json
from ibidem_core.address import parse_fields
from ibidem_engines.cluster.source_documents import iter_raw_sources, read_documents
from ibidem_engines.requests import JsonAnswer
from ibidem_engines.stored_groups import Name


@given(st.lists(OBJECTS | st.none(), max_size=3), STYLES)
def test_each_document_has_the_json_that_is_there(
    sources: list[dict[str, object] | None], style: tuple[str, str]
) -> None:
    raws = ["" if source is None else write_json(source, style, is_plain=True) for source in sources]
    docs = [
        f'{{"_id":"{at}","found":{"true" if raw else "false"}' + (f',"_source":{raw}}}' if raw else "}")
        for at, raw in enumerate(raws)
    ]
    assert [raw.decode() for raw in iter_raw_sources('{"docs":[' + ",".join(docs) + "]}")] == raws


def test_a_packed_value_that_another_program_damaged_counts_as_none() -> None:
    doc = {"_index": "news", "_id": "a", "found": True, "_version": 3, "_seq_no": 7, "_primary_term": 1}
    source = {"body": "grain", "ibidem": {"packed": "%", "record": 5}}
    text = json.dumps({"docs": [doc | {"_source": source}]})
    name = Name("news", "a", 7)
    (document,) = read_documents(
        JsonAnswer(json.loads(text), text), {("news", "a"): name}, parse_fields("text=body,meta="), _never, raw=True
    )
    assert (document.packed, document.digest, document.document.text, document.state, document.engine_version) == (
        b"",
        "",
        "grain",
        (7, 1),
        3,
    )
    assert json.loads(document.raw) == source


def _never(_: object) -> Exception:
    raise AssertionError


def test_a_document_that_names_no_language_is_signed_by_the_one_of_its_text() -> None:
    text = "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen."
    doc = {"_index": "news", "_id": "a", "found": True, "_version": 3, "_seq_no": 7, "_primary_term": 1}
    found = {}
    for language in ("", "en", "pt-BR"):
        source = {"body": text} | ({"language": language} if language else {})
        answer = json.dumps({"docs": [doc | {"_source": source}]})
        (document,) = read_documents(
            JsonAnswer(json.loads(answer), answer),
            {("news", "a"): Name("news", "a", 7)},
            parse_fields("text=body,meta="),
            _never,
            raw=True,
        )
        found[language] = document.document.language
    assert found == {"": "de", "en": "en", "pt-BR": "pt"}
