"""The book as files for any static host, which can also be opened from a disk."""
