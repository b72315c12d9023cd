"""The HTTP gateway: dedupe for every search client, and a page for people."""
