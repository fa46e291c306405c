"""Recordings in files and on the wire: the wire format, recording files, untrusted files, shipped recordings, scripts."""
