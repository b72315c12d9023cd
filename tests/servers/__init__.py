"""Real servers for the tests: found by address in the environment, else started from packages."""
