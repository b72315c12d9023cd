"""Comparison of two texts: evidence, shared passages, differences, and the page that shows them."""
