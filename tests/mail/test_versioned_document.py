"""What versions see of a document."""

from ibidem_ingest.document import Document
from ibidem_mail.versioned_document import versioned_documents

TEXT = "The rent of the house at the harbour is due on the first of May."


def test_fields_that_speak_of_versions_are_read_by_any_of_their_names() -> None:
    meta = {"isVersionOf": "rent act", "dcterms:replaces": ["a", "b"], "edition": "2.1", "identifier": "2020/1", "x": 1}
    (read,) = versioned_documents([Document("c", TEXT, meta=meta)])
    assert (read.works, read.replaces, read.number) == ({"rent act"}, {"a", "b"}, (2, 1))
    assert read.called == {"c", "2020/1"}


def test_a_mail_is_no_version_unless_it_says_so() -> None:
    mail = {"type": "mail"}
    read = versioned_documents([Document("a", TEXT, meta=mail), Document("b", TEXT, meta={**mail, "replaces": "a"})])
    assert [each.id for each in read] == ["b"]
