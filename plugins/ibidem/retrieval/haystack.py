"""Components for Haystack, a retriever and a selector: each text is returned once."""

from dataclasses import replace

from haystack import Document, component

from ibidem.retrieval.index_search import PassageSearch, keep_leads

DOCUMENT_KEY = "source_id"  # key of the metadata under which Haystack's splitters name the document that they cut


@component
class LeadRetriever:
    """Finds the best passages of a signed index, each text once; `meta["duplicates"]` lists the others."""

    def __init__(self, search: PassageSearch, top_k: int = 10) -> None:
        self.search, self.top_k = search, top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the passages, the best first."""
        found = self.search.find(query, self.top_k if top_k is None else top_k)
        documents = [Document(id=each.id, content=each.text, meta=each.metadata, score=each.score) for each in found]
        return {"documents": documents}


@component
class LeadSelector:
    """Keeps one document of each group; `meta["duplicates"]` lists the others, with level and reason."""

    def __init__(self, language: str = "", keep: str = "rank", date_key: str = "") -> None:
        self.language, self.keep, self.date_key = language, keep, date_key

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the leads, in the order of the documents; a document without text is a group of its own."""
        texts = [(each.id, each.content or "", each.meta, each.meta.get(DOCUMENT_KEY)) for each in documents]
        leads = keep_leads(texts, self.language, self.keep, self.date_key)
        return {"documents": [replace(documents[lead], meta=metadata) for lead, metadata in leads]}
