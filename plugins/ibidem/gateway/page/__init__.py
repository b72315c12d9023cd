"""The page for people: a result list with duplicates indented, a document with its copies, two texts side by side."""
