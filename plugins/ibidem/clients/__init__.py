"""The official clients of Elasticsearch and OpenSearch, with duplicates grouped in search results."""
