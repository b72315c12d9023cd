"""Readers: from files to documents, streaming, a refusal for each that cannot be read."""
