"""The textbook's model: lessons, their texts, their queries of recordings and their experiments on devices."""
