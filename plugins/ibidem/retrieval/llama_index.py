"""A node postprocessor for LlamaIndex that keeps the first of each group of duplicates."""

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from ibidem.retrieval.passages import KEY, leads_of


class LeadPostprocessor(BaseNodePostprocessor):
    """Keeps one node of each group; `node.metadata["duplicates"]` names the others, with level and reason."""

    language: str = ""
    """ISO 639 code of all texts; detected where it is empty."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002 - as the interface has it
    ) -> list[NodeWithScore]:
        """Return the leads, in the order of the nodes, with their scores."""
        texts = [each.node.get_content(metadata_mode=MetadataMode.NONE) for each in nodes]
        kept = []
        for lead, duplicates in leads_of(texts, [each.node.node_id for each in nodes], None, self.language):
            node = nodes[lead].node.model_copy(update={"metadata": {**nodes[lead].node.metadata, KEY: duplicates}})
            kept.append(NodeWithScore(node=node, score=nodes[lead].score))
        return kept
