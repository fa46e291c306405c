"""The pages: shell, router, views, figures."""
