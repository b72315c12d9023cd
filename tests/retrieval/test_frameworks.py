"""In the frameworks themselves, each text is handed on once, with the others named."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from servers.packages import interpreter

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RENT = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
END = "Either party may end this lease by giving notice in writing three months before its term."
EXPECTED = "['a', 'c'] [{'id': 'b', 'level': 'identical', 'reason': 'the same words in the same order'}]\n"

HAYSTACK = f"""
from haystack import Document, Pipeline
from ibidem.retrieval.haystack import LeadSelector

pipeline = Pipeline()
pipeline.add_component("leads", LeadSelector(language="en"))
passages = [Document(id=name, content=text) for name, text in (("a", {RENT!r}), ("b", {RENT!r}), ("c", {END!r}))]
kept = pipeline.run({{"leads": {{"documents": passages}}}})["leads"]["documents"]
print([each.id for each in kept], kept[0].meta["duplicates"])
"""

LLAMA_INDEX = f"""
from llama_index.core.schema import NodeWithScore, TextNode
from ibidem.retrieval.llama_index import LeadPostprocessor

passages = [TextNode(id_=name, text=text) for name, text in (("a", {RENT!r}), ("b", {RENT!r}), ("c", {END!r}))]
kept = LeadPostprocessor(language="en").postprocess_nodes([NodeWithScore(node=node, score=1.0) for node in passages])
print([each.node.node_id for each in kept], kept[0].node.metadata["duplicates"])
"""


@pytest.mark.parametrize(
    ("requirement", "program"),
    [("haystack-ai==3.3.0", HAYSTACK), ("llama-index-core==0.14.25", LLAMA_INDEX)],
    ids=["haystack", "llama-index"],
)
def test_a_framework_hands_each_text_on_once(requirement: str, program: str, tmp_path: Path) -> None:
    python = interpreter(f"framework-{requirement.replace('==', '-')}", [requirement])
    packages = [str(ROOT / name) for name in ("ingest", "mappings", "plugins", "workers")]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "IBIDEM_TABLES": str(tmp_path),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "PYTHONPATH": os.pathsep.join([*packages, sysconfig.get_path("purelib")]),
    }
    command = [str(python), "-W", "ignore", "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.stdout == EXPECTED, done.stderr
