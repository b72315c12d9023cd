"""What versions see of a document."""

from ibidem_ingest.document import Document
from ibidem_mail.versioned_document import versioned_documents

TEXT = "The rent of the house at the harbour is due on the first of May."


def test_fields_that_speak_of_versions_are_read_by_any_of_their_names() -> None:
    meta = {"isVersionOf": "rent act", "dcterms:replaces": ["a", "b"], "edition": "2.1", "identifier": "2020/1", "x": 1}
    (read,) = versioned_documents([Document("c", TEXT, meta=meta)])
    assert (read.works, read.replaces, read.number) == ({"rent act"}, {"a", "b"}, (2, 1))
    assert read.called == {"c", "2020/1"}


def test_the_first_line_is_a_name_where_there_is_no_title() -> None:
    (titled,) = versioned_documents([Document("a", f"# Lease v2\n\n{TEXT}", title="House lease")])
    (untitled,) = versioned_documents([Document("a", f"# Lease v2\n\n{TEXT}")])
    assert titled.names == {"title": "house lease"}
    assert (untitled.names, untitled.number) == ({"heading": "lease"}, (2,))


def test_a_mail_is_no_version_unless_it_says_so() -> None:
    mail = {"type": "mail"}
    read = versioned_documents([Document("a", TEXT, meta=mail), Document("b", TEXT, meta={**mail, "replaces": "a"})])
    assert [each.id for each in read] == ["b"]


def test_the_year_in_a_name_is_the_date_of_a_document_without_one() -> None:
    dated, undated = versioned_documents(
        [Document("a", TEXT, title="Act of 1987", date="1990-01-01"), Document("b", TEXT, title="Act of 1987")]
    )
    assert (dated.date, undated.date) == ("1990-01-01", "1987")


def test_odd_values_in_fields_that_speak_of_versions_are_passed_over() -> None:
    (read,) = versioned_documents([Document("a", TEXT, url="http://[::1", meta={"work": {"x": 1}, "version": None})])
    assert (read.works, read.number, "url" in read.names) == (set(), (), True)
    (read,) = versioned_documents([Document("a", TEXT, meta={"work": False, "replaces": [True], "version": True})])
    assert (read.declares, read.number) == (False, ())


def test_an_identifier_and_an_address_keep_their_years() -> None:
    (read,) = versioned_documents([Document("a", TEXT, url="https://law.example/2016/679", meta={"celex": "2016/679"})])
    assert (read.names["identifier"], read.names["url"]) == ("2016 679", "law example 2016 679")
    assert read.date == ""
