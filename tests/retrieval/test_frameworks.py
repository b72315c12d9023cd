"""In the frameworks themselves, each text is handed on once, with the others named."""

import pytest

from .conftest import Program

pytestmark = pytest.mark.slow

RENT = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
END = "Either party may end this lease by giving notice in writing three months before its term."
TAIL = "notice in writing three months before its term. It is final."
PASSAGES = (("a", RENT, "lease"), ("b", RENT, "copy"), ("c", END, "lease"), ("d", TAIL, "lease"))
SAME = "{'id': 'b', 'level': 'identical', 'reason': 'the same words in the same order'}"
NEXT = "{'id': 'd', 'level': 'partial', 'reason': 'follows it in the same document, 8 words overlap', 'side': 'after'}"
# At the end: how many duplicates the retriever noted, which are there behind the second component, too.
EXPECTED = f"['a', 'c'] [[{SAME}], [{NEXT}]]\n['other'] ['lease.pdf', 'contract.pdf']\n[1, 0, 0, 0]\n"

INDEX = """
import os, ibidem
from ibidem.retrieval.index_search import search_engine
engine = ibidem.open_engine(os.environ["IBIDEM_ENGINE"], "passages")
contract, whole = search_engine(engine, ("meta.document=contract.pdf",)), search_engine(engine)
def documents(metadata):
    return sorted({each["meta"]["document"] for each in metadata} - {"scan.pdf"}, reverse=True)
"""

HAYSTACK = f"""
from haystack import Document, Pipeline
from ibidem.retrieval.haystack import LeadRetriever, LeadSelector
{INDEX}
pipeline = Pipeline()
pipeline.add_component("leads", LeadSelector(language="en"))
passages = [Document(id=name, content=text, meta={{"source_id": source}}) for name, text, source in {PASSAGES!r}]
kept = pipeline.run({{"leads": {{"documents": passages}}}})["leads"]["documents"]
print([each.id for each in kept], [each.meta["duplicates"] for each in kept])
pipeline = Pipeline()
pipeline.add_component("found", LeadRetriever(contract, top_k=2))
pipeline.add_component("leads", LeadSelector(language="en"))
pipeline.connect("found", "leads")
one = pipeline.run({{"found": {{"query": "rent"}}}})["leads"]["documents"]
found = LeadRetriever(whole).run("rent")["documents"]
print([each.id for each in one], documents(each.meta for each in found))
kept = LeadSelector(language="en").run(found)["documents"]
print(sorted((len(each.meta["duplicates"]) for each in kept), reverse=True))
"""

LLAMA_INDEX = f"""
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from ibidem.retrieval.llama_index import LeadPostprocessor, LeadRetriever
{INDEX}
nodes = [
    TextNode(id_=name, text=text, relationships={{NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)}})
    for name, text, source in {PASSAGES!r}
]
kept = LeadPostprocessor(language="en").postprocess_nodes([NodeWithScore(node=node, score=1.0) for node in nodes])
print([each.node.node_id for each in kept], [each.node.metadata["duplicates"] for each in kept])
one = LeadRetriever(contract, similarity_top_k=2).retrieve("rent")
found = LeadRetriever(whole).retrieve("rent")
print([each.node.node_id for each in one], documents(each.node.metadata for each in found))
kept = LeadPostprocessor(language="en").postprocess_nodes(found)
print(sorted((len(each.node.metadata["duplicates"]) for each in kept), reverse=True))
for each in (*found, *kept, *LeadPostprocessor(language="en").postprocess_nodes([NodeWithScore(node=nodes[0])])):
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "duplicates" not in each.node.get_content(metadata_mode=mode), (mode, each)
"""


@pytest.mark.parametrize(
    ("requirement", "program"),
    [("haystack-ai==3.3.0", HAYSTACK), ("llama-index-core==0.14.25", LLAMA_INDEX)],
    ids=["haystack", "llama-index"],
)
def test_a_framework_hands_each_text_on_once(requirement: str, program: str, run_beside: Program) -> None:
    done = run_beside(requirement, program)
    assert done.stdout == EXPECTED, done.stderr
