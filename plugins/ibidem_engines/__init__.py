"""Search engines behind one protocol: store documents with signatures, search them, find them by signature."""
