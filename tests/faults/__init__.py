"""Kill tests: what is submitted, what is killed, and what must stand afterwards."""
