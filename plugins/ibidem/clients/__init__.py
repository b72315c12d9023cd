"""The official clients of Elasticsearch and OpenSearch, with duplicates grouped in what they find."""
