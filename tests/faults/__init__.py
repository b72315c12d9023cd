"""Kill tests: submissions, killed processes, and the expected state of the index afterwards."""
