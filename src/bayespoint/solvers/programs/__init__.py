"""Linear and quadratic programs of margin machines."""
