"""The decision on a pair of documents, from their signatures."""
