"""Recordings at rest and in transit: the wire format, files, untrusted files, shipped recordings, scripts."""
