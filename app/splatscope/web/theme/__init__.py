"""Colours, type and charts."""
