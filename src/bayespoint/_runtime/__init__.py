"""Support for the algorithms: progress, threads, Ctrl-C, warnings, checks, safe writing."""
