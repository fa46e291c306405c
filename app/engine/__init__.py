"""Jobs on worker processes, so that no page ever waits for a device."""
