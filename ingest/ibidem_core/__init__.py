"""Settings, logs, retries, addresses and errors, shared by all packages above; without access to an engine."""
