"""What is kept of a text: one module a signature, and `sign` over all of them."""
