"""A document transformer for LangChain that keeps the first of each group of duplicates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document

from ibidem.retrieval.passages import KEY, leads_of
from ibidem_dedupe.policy import Policy


@dataclass(frozen=True, slots=True)
class LeadTransformer(BaseDocumentTransformer):
    """Keeps one document of each group; `metadata["duplicates"]` names the others, with level and reason.

    Args:
        policy: The decision for a pair; None: that of a search at the level `near`.
        language: ISO 639 code of all texts; detected where it is empty.

    Examples:
        >>> rent = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
        >>> found = [Document(rent, id="a"), Document(rent, id="b")]
        >>> [(each.id, each.metadata) for each in LeadTransformer(language="en").transform_documents(found)]
        [('a', {'duplicates': [{'id': 'b', 'level': 'identical', 'reason': 'the same words in the same order'}]})]
    """

    policy: Policy | None = None
    language: str = ""

    def transform_documents(self, documents: Sequence[Document], **_: Any) -> Sequence[Document]:
        """Return the leads, in the order of the documents."""
        texts = [each.page_content for each in documents]
        ids = [each.id or str(place) for place, each in enumerate(documents)]
        return [
            documents[lead].model_copy(update={"metadata": {**documents[lead].metadata, KEY: duplicates}})
            for lead, duplicates in leads_of(texts, ids, self.policy, self.language)
        ]
