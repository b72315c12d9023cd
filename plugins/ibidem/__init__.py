"""Duplicate detection for Elasticsearch and OpenSearch: sign while indexing, indent or collapse while searching."""

__version__ = "0.1.0"
