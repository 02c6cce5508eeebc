"""How is text cut into words and tokens? One answer, shared by indexing, queries, chunking and budgets."""
