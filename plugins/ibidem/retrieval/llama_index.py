"""A retriever and a node postprocessor for LlamaIndex: each text is handed on once."""

from collections.abc import Callable
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from ibidem.retrieval.index_search import find_passages
from ibidem.retrieval.passages import KEY, leads_of, passage


class LeadRetriever(BaseRetriever):
    """Finds the best passages of a signed index, each text once; `node.metadata["duplicates"]` names the others."""

    def __init__(
        self, search: Callable[..., Any], similarity_top_k: int = 10, text_field: str = "text", document_field: str = ""
    ) -> None:
        """Set it up.

        Args:
            search: What `ibidem.retrieval.index_search.search_client` or `search_engine` returned.
            similarity_top_k: How many different texts are returned.
            text_field: Field with the text.
            document_field: Field that names the document of a passage; empty: overlaps are not looked for.
        """
        self._search, self._count = search, similarity_top_k
        self._text_field, self._document_field = text_field, document_field
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = find_passages(self._search, query_bundle.query_str, self._count, self._text_field, self._document_field)
        return [
            NodeWithScore(node=TextNode(id_=each.id, text=each.text, metadata=each.metadata), score=each.score)
            for each in found
        ]


class LeadPostprocessor(BaseNodePostprocessor):
    """Keeps one node of each group; `node.metadata["duplicates"]` names the others, with level and reason."""

    language: str = ""
    """ISO 639 code of all texts; detected where it is empty."""

    keep: str = "rank"
    """Which node is kept: the first in `rank`, the `earliest`, `latest` or `longest`."""

    date_key: str = ""
    """Key of the metadata with a date; empty: dates are not read."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002 - as the interface has it
    ) -> list[NodeWithScore]:
        """Return the leads, in the order of the nodes, with their scores."""
        passages = [
            passage(
                each.node.get_content(metadata_mode=MetadataMode.NONE),
                each.node.metadata,
                each.node.ref_doc_id,
                self.date_key,
            )
            for each in nodes
        ]
        kept = []
        ids = [each.node.node_id for each in nodes]
        for lead, duplicates in leads_of(passages, ids, None, self.language, self.keep):
            node = nodes[lead].node.model_copy(update={"metadata": {**nodes[lead].node.metadata, KEY: duplicates}})
            kept.append(NodeWithScore(node=node, score=nodes[lead].score))
        return kept
