"""The search over the whole book: its index, made from the pages themselves, and the dialog that shows what it finds."""
