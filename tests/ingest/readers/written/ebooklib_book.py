"""Write the book of `story.md` with ebooklib: python ebooklib_book.py, with ebooklib 0.20 installed."""

from pathlib import Path

from ebooklib import epub

_, front, *body = Path("story.md").read_text(encoding="utf-8").split("---\n")
fields = dict(line.split(": ", 1) for line in front.splitlines())
book = epub.EpubBook()
book.set_identifier("harbour")
book.set_title(fields["title"])
book.set_language(fields["lang"])
book.add_author(fields["author"])
book.add_metadata("DC", "date", fields["date"])
chapters = []
for number, part in enumerate("---\n".join(body).split("# ")[1:], 1):
    heading, *lines = part.splitlines()
    chapter = epub.EpubHtml(title=heading, file_name=f"chapter{number}.xhtml", lang=fields["lang"])
    chapter.content = f"<h1>{heading}</h1><p>{' '.join(lines).strip()}</p>"
    book.add_item(chapter)
    chapters.append(chapter)
book.toc = book.spine = chapters
book.add_item(epub.EpubNcx())
epub.write_epub("ebooklib.epub", book)
