"""Files in and models out."""
