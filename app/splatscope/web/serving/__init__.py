"""Serving the app: the server, its sessions, the documents it sends and the messages it takes."""
