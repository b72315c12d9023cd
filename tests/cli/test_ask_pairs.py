"""A pair is shown by both titles and the words that differ."""

from ibidem.cli.ask import Question, question_lines
from ibidem_ingest.document import Document

TEXT = "The tenant shall pay the rent on the first day of each month, in advance and without demand."


def test_a_question_shows_both_titles_and_the_words_that_differ() -> None:
    a, b = Document("a", TEXT, title="Lease"), Document("b", TEXT.replace("month", "quarter"), title="Second lease")
    lines = [line.plain for line in question_lines(Question(7, 0, 20, (a, b)))]
    assert any("Second lease" in line for line in lines)
    assert any("month" in line and "quarter" in line for line in lines)
