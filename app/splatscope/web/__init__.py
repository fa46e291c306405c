"""The pages, one folder per feature. Only this package knows Panel."""
