"""Markdown: what readers see, without its marks."""

from contextlib import suppress
from pathlib import Path

import pytest

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.text import markdown_record

PAGE = """---
layout: post
---
<!-- nobody sees this -->
Some words *before* it.

# The `csrf` *token*

See [the guide](https://a.b/c) and ![a picture](d.png).

- one **thing**
- another

| a | b |
|---|---|
| c | d |

```python
print("x")
```
"""


def read(folder: Path, text: str) -> dict[str, object]:
    path = folder / "a.md"
    path.write_text(text, encoding="utf-8")
    return markdown_record(path, 10_000)


def test_marks_are_no_text_and_the_first_heading_is_the_title(tmp_path: Path) -> None:
    record = read(tmp_path, PAGE)
    assert record["title"] == "The csrf token"
    assert " ".join(str(record["text"]).split()) == (
        'Some words before it. The csrf token See the guide and a picture. one thing another a b c d print("x")'
    )


def test_a_text_without_a_heading_has_its_first_line_with_words_for_a_title(tmp_path: Path) -> None:
    assert read(tmp_path, "***\n\nWe the *People*\nof the United States")["title"] == "We the People"


@pytest.mark.parametrize("text", ["", "   \n", "---\na: b\n---\n", "<!-- x -->", "[a]: https://b"])
def test_what_shows_nothing_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unreadable, match="it is empty"):
        read(tmp_path, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 9_000, "> " * 4_000 + "x", "*a " * 3_000, "`" * 9_999, "x\x00y", "![" * 4_000])
def test_what_is_broken_or_nests_without_an_end_is_read_or_refused(tmp_path: Path, text: str) -> None:
    with suppress(Unreadable):
        assert read(tmp_path, text)["text"]


def test_bytes_that_are_no_utf_8_are_refused_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# caf\xe9 fa\xe7ade")
    with pytest.raises(Unreadable, match="offset 5"):
        markdown_record(tmp_path / "a.md", 1_000)
