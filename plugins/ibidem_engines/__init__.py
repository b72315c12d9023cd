"""Search engines behind one protocol: store signed documents, search them, look them up by signature."""
