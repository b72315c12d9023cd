"""A retriever and a document transformer for LangChain: each text is returned once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.retrievers import BaseRetriever

from ibidem.retrieval.index_search import PassageSearch, keep_leads
from ibidem_dedupe.policy import Policy


class LeadRetriever(BaseRetriever):
    """Returns the `k` best passages of a signed index, each text once; `metadata["duplicates"]` lists the others."""

    search: PassageSearch  # what `ibidem.retrieval.index_search.search_client` or `search_engine` returned
    k: int = 4  # how many different texts are returned

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        return [Document(each.text, id=each.id, metadata=each.metadata) for each in self.search.find(query, self.k)]


@dataclass(frozen=True, slots=True)
class LeadTransformer(BaseDocumentTransformer):
    """Keeps one document of each group; `metadata["duplicates"]` lists the others, with level and reason.

    Examples:
        >>> rent = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
        >>> found = [Document(rent, id="a"), Document(rent, id="b")]
        >>> [(each.id, each.metadata) for each in LeadTransformer(language="en").transform_documents(found)]
        [('a', {'duplicates': [{'id': 'b', 'level': 'identical', 'reason': 'the same words in the same order'}]})]
    """

    policy: Policy | None = None  # the decision for a pair; None: that of a search at the level `near`
    language: str = ""  # ISO 639 code of all texts; detected where it is empty
    keep: str = "rank"  # which document is kept: the first in `rank`, the `earliest`, `latest`, `longest` or `current`
    document_key: str = "source"  # key of the metadata that names the file of a passage, as loaders set it
    date_key: str = ""  # key of the metadata with a date; empty: dates are not read

    def transform_documents(self, documents: Sequence[Document], **_: Any) -> Sequence[Document]:
        texts = [
            (each.id or str(place), each.page_content, each.metadata, each.metadata.get(self.document_key))
            for place, each in enumerate(documents)
        ]
        return [
            documents[lead].model_copy(update={"metadata": metadata})
            for lead, metadata in keep_leads(texts, self.language, self.keep, self.date_key, self.policy)
        ]
