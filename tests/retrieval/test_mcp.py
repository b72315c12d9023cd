"""An assistant searches an index through `ibidem serve --mcp`, by the protocol's own client."""

import json

import pytest

from .conftest import COPIES, Program

pytestmark = pytest.mark.slow

CLIENT = """
import asyncio, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = [
    ("search", {"query": "rent", "size": 2}),
    ("search", {"query": "rent", "filters": ["meta.document=scan.pdf"]}),
    ("search", {"query": "rent", "size": 1000000}),
    ("search", {"query": "rent", "keep": "newest"}),
    ("search", {"query": "rent", "filters": ["colour=red"]}),
]

async def ask(index, calls):
    command = ["-W", "ignore", "-c", "from ibidem.cli import main; main(['serve', '--mcp'])"]
    environment = {**os.environ, "IBIDEM_INDEX": index}
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        answers = []
        for name, arguments in calls:
            answer = await session.call_tool(name, arguments)
            answers.append([answer.is_error, answer.content[0].text])
        return tools, answers

async def main():
    tools, answers = await ask("passages", CALLS)
    _, copies = await ask("copies", [("search", {"query": "rent1"})])
    print(json.dumps([[each.name, each.annotations.read_only_hint] for each in tools]))
    print(json.dumps(answers))
    print(json.dumps(copies))

asyncio.run(main())
"""


def test_an_assistant_finds_each_text_once_and_is_told_what_is_wrong(run_beside: Program) -> None:
    done = run_beside("mcp==2.3.0", CLIENT)
    assert done.returncode == 0, done.stderr
    tools, answers, copies = map(json.loads, done.stdout.splitlines())
    assert tools == [["search", True]]
    found, filtered = (json.loads(text) for is_error, text in answers[:2] if not is_error)
    assert len(found["hits"]) == 2
    assert not any("ibidem" in hit for hit in found["hits"])
    assert [hit["id"] for hit in filtered["hits"]] == ["copy of a"]
    assert all(is_error for is_error, _ in answers[2:])
    size, keep, field = (text for _, text in answers[2:])
    assert "less than or equal to 100" in size
    assert "newest" in keep
    assert "longest" in keep
    assert "colour" in field
    ((is_error, text),) = copies
    assert not is_error
    (hit,) = json.loads(text)["hits"]
    assert len(hit["duplicates"]) == COPIES
