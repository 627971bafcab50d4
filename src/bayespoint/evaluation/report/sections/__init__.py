"""The sections of a report, one a file, each from results to markup."""
