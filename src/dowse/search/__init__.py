"""Which passages answer this? From a query to ranked, cited hits."""
