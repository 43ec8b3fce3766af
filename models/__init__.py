"""docparse-mini: its weights, and the scripts that made them (see README.md)."""
