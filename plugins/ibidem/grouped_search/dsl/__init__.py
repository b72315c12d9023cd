"""Grouped searches in the query DSL of OpenSearch and Elasticsearch, for wrapped clients and the gateway."""
