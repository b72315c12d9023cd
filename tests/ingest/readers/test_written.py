"""Files of other programs are read: the same story, as each of them wrote it (`written/README.md`)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.readers import read

FOLDER = Path(__file__).parent / "written"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.stem in {"ebooklib", "pandoc", "libreoffice"})

MEETING = (
    "The harbour board met on Tuesday to settle how the new breakwater should be paid for. Two of its members wanted a "
    "loan over thirty years, since the stones will last longer than any of them."
)
VOTE = "After an hour the question was put off until the engineer has counted the stones: “none” is"


Story = Callable[[str], Document]


@pytest.fixture(scope="module")
def story() -> Story:
    """Return the only document of one of the files, which are read together."""
    paths = [FOLDER / name for name in FILES]
    items = list(read(paths))
    assert all(isinstance(item, Document) for item in items), items
    documents = {Path(item.where).name: item for item in items if isinstance(item, Document)}
    assert len(documents) == len(items) == len(FILES)
    return documents.__getitem__


@pytest.mark.parametrize("name", FILES)
def test_the_words_of_each_file_are_read_and_nothing_of_its_markup(story: Story, name: str) -> None:
    words = " ".join(story(name).text.split())
    assert words.index(MEETING) < words.index(VOTE)
    assert "an answer, said Zoë." in words
    assert "2,410" in words
    assert not set("<>") & set(words)


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".md", ".txt", ".pdf"))])
def test_the_title_is_the_one_that_the_file_gives_itself(story: Story, name: str) -> None:
    assert story(name).title == "The harbour board"


@pytest.mark.parametrize("name", ["ebooklib.epub", "pandoc.epub"])
def test_a_book_has_its_date_and_a_page_for_each_chapter(story: Story, name: str) -> None:
    book = story(name)
    assert book.date == "2024-03-04"
    meeting, vote = (
        next(n for n, page in enumerate(book.pages) if each in page) for each in ("The meeting", "The vote")
    )
    assert meeting < vote
