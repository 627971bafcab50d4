"""Read tables from files; write and read models."""
