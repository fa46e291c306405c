"""Walks through the book, alone or with a class: the stops, the presenter, the students."""
