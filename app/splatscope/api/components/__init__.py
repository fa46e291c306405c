"""Panel components for other people's apps and notebooks, see `splatscope.components`."""
