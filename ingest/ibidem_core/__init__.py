"""Settings, logs, retries, addresses, errors: what every package above stands on; no engine is asked."""
