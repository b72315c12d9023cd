"""A component for Haystack that keeps the first of each group of duplicates."""

from dataclasses import replace

from haystack import Document, component

from ibidem.retrieval.passages import KEY, leads_of


@component
class LeadSelector:
    """Keeps one document of each group; `meta["duplicates"]` names the others, with level and reason."""

    def __init__(self, language: str = "") -> None:
        """Set it up.

        Args:
            language: ISO 639 code of all texts; detected where it is empty.
        """
        self.language = language

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the leads, in the order of the documents; a document without text is a group of its own."""
        texts = [each.content or "" for each in documents]
        leads = leads_of(texts, [each.id for each in documents], None, self.language)
        found = [replace(documents[lead], meta={**documents[lead].meta, KEY: others}) for lead, others in leads]
        return {"documents": found}
