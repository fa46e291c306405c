"""The debugger page."""
