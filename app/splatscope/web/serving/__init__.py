"""The server: its start and handlers, sessions, documents, and the messages between it and browsers."""
