"""The page for people: a result list with its duplicates indented, a document with its copies, two side by side."""
