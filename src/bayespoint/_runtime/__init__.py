"""What runs around the algorithms: progress, threads, Ctrl-C, warnings, safe writing."""
