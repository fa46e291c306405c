"""Reading Slang: sources, modules, declarations, the preprocessor."""
