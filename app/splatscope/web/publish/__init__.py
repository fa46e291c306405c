"""The book as files that any static host serves and that open from a disk."""
