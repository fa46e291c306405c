"""Where untrusted sources are compiled and run."""
