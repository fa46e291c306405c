"""What a machine needs to run Splatscope, and how to install it: the driver, the browser, system packages."""
