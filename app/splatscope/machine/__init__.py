"""Find and install what a machine needs to run Splatscope: the driver, a browser, system packages."""
