"""What a lesson asks, claims and tries out, drawn in the browser."""
