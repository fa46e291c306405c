"""The ways in which a page's components come to a browser: with a session, as a stream that all readers share, or as files."""
