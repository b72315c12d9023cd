"""The engine protocol over OpenSearch and Elasticsearch."""
