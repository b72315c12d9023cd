"""A document's copies by date and source."""

from ibidem_gateway.page.documents import LEFT, MAX_SOURCES, OTHERS, RIGHT, WIDTH, timeline
from ibidem_ingest.document import Document

OWN = Document("own", "text", date="1987-03-01", source="AP", title="A story")


def test_the_first_copy_is_at_the_left_and_the_last_at_the_right() -> None:
    later, undated = Document("b", "text", date="1987-03-11", source="Reuters"), Document("c", "text")
    marks = timeline(OWN, [later, undated])
    assert marks is not None
    assert [(point.id, point.x, point.own) for point in marks.points] == [
        ("own", LEFT, True),
        ("b", WIDTH - RIGHT, False),
    ]
    assert [name for name, _ in marks.rows] == ["AP", "Reuters"]
    assert (marks.begin, marks.end, marks.undated) == ("1 March 1987", "11 March 1987", 1)


def test_copies_of_one_day_or_without_dates_make_no_picture() -> None:
    assert timeline(OWN, [Document("b", "text", date="1987-03-01")]) is None
    assert timeline(Document("a", "text"), [Document("b", "text")]) is None


def test_of_very_many_sources_the_latest_to_appear_share_a_row() -> None:
    copies = [Document(f"c{day}", "text", date=f"1987-04-{day:02}", source=f"paper {day}") for day in range(1, 30)]
    marks = timeline(OWN, copies)
    assert marks is not None
    assert (len(marks.rows), marks.rows[-1][0]) == (MAX_SOURCES, OTHERS)
    assert len(marks.points) == 30
