"""What makes one of the files is no test: it needs ebooklib."""

collect_ignore = ["ebooklib_book.py"]
