"""What an index looks like: JSON and SQL, loaded by name, versioned."""
