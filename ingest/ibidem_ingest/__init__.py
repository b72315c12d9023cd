"""From files to documents and their signatures: pure, no network, no broker, no engine."""
