"""Three nodes in trouble: a cluster whose links, disks and processes fail one at a time, and a checked history."""
