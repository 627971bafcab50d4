"""Ask a person for the labels of a file: the journal, the server and the page of `label`."""
