"""Which of the documents just written had a duplicate there already."""
