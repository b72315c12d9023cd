"""The HTTP gateway: dedupe for every client that speaks to a search engine, and a page for people."""
