"""Signatures of a text: one module for each, and `sign` over all of them."""
