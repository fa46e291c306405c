"""One recording as one file: an HTML page that opens from a disk, without a server."""
