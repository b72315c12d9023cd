"""A retriever and a node postprocessor for LlamaIndex: each text is returned once."""

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode

from ibidem.retrieval.index_search import KEY, PassageSearch, keep_leads


class LeadRetriever(BaseRetriever):
    """Finds the best passages of a signed index, each text once; `node.metadata["duplicates"]` lists the others."""

    def __init__(self, search: PassageSearch, similarity_top_k: int = 10) -> None:
        self._search, self._count = search, similarity_top_k
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=with_metadata(TextNode(id_=each.id, text=each.text), each.metadata), score=each.score)
            for each in self._search.find(query_bundle.query_str, self._count)
        ]


class LeadPostprocessor(BaseNodePostprocessor):
    """Keeps one node of each group; `node.metadata["duplicates"]` lists the others, with level and reason."""

    language: str = ""  # ISO 639 code of all texts; detected where it is empty
    keep: str = "rank"  # which node is kept: the first in `rank`, the `earliest`, `latest`, `longest` or `current`
    date_key: str = ""  # key of the metadata with a date; empty: dates are not read

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002
    ) -> list[NodeWithScore]:
        every = [each.node for each in nodes]
        texts = [
            (each.node_id, each.get_content(metadata_mode=MetadataMode.NONE), each.metadata, each.ref_doc_id)
            for each in every
        ]
        return [
            NodeWithScore(node=with_metadata(every[lead], metadata), score=nodes[lead].score)
            for lead, metadata in keep_leads(texts, self.language, self.keep, self.date_key)
        ]


def with_metadata(node: BaseNode, metadata: dict[str, object]) -> BaseNode:
    """Return a node with this metadata; its duplicates are excluded from prompts and embeddings."""
    names = ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")
    excluded = {name: [*dict.fromkeys((*getattr(node, name), KEY))] for name in names}
    return node.model_copy(update={"metadata": metadata, **excluded})
