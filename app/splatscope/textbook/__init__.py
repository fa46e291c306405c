"""The textbook's model: lessons, their text, and what they ask of recordings and devices."""
