"""Text of a mail in HTML, as a person reads it."""

from ibidem_ingest.mail.html_body import html_to_text
from ibidem_ingest.mail.parts import own_text


def test_what_stands_in_blockquote_is_marked_at_each_depth() -> None:
    html = (
        "<div>Yes.</div><div>On 3 May 2004 Ann wrote:<blockquote>due?<blockquote>roof</blockquote></blockquote></div>"
    )
    text = html_to_text(html)
    assert [line for line in text.splitlines() if line.strip("> ")] == [
        "Yes.",
        "On 3 May 2004 Ann wrote:",
        "> due?",
        "> > roof",
    ]
    assert own_text(text).strip() == "Yes."


def test_the_head_that_outlook_copies_is_lines() -> None:
    html = "<p>Yes.</p><hr><div><b>From:</b> Ann<br><b>Sent:</b> 3 May 2004<br><b>To:</b> Bob</div><p>due?"
    assert own_text(html_to_text(html)).strip() == "Yes."


def test_scripts_and_styles_are_not_shown_and_lines_of_pre_are_kept() -> None:
    assert html_to_text("<head><title>t</title></head><style>p {}</style><pre>a\n  b</pre>") == "a\n  b\n"


def test_thousands_of_levels_are_taken() -> None:
    assert "deep" in html_to_text("<blockquote>" * 200 + "deep")
    assert html_to_text("<div>" * 5_000 + "deep") is not None
    assert html_to_text(" ") == ""
