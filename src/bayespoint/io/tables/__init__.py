"""Tables from files: CSV, Parquet and LIBSVM."""
