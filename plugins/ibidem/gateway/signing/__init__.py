"""Signatures of documents that callers write through the gateway (`IBIDEM_GATEWAY_SIGN`)."""
