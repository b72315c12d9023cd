"""`ibidem serve --mcp` says what to install; tests/retrieval/test_mcp.py talks to it."""

from importlib.util import find_spec

import pytest

from support.command_line import Run


@pytest.mark.skipif(find_spec("mcp") is not None, reason="the package mcp is installed")
def test_without_the_package_the_extra_is_named(run: Run) -> None:
    code, _, error = run("serve", "--mcp")
    assert code == 2
    assert "pip install 'ibidem-search[mcp]'" in error
