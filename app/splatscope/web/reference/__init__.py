"""The reference pages: claims and glossary."""
