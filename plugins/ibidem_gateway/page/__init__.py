"""The page for people: result list with indented duplicates, documents with copies, two texts side by side."""
