"""A walk with a class: the stops, the presenter, the students."""
