"""What pages are made of: components, and the messages and changes that pass between their two sides."""
