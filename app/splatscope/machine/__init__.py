"""What a machine needs to run Splatscope, and how to install it: the driver, a browser, system packages."""
