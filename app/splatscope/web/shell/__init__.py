"""The frame around all pages: routing, the sidebar, keys, progress."""
