"""Who is asking? Interfaces parse what a caller said, call the engine and render what it answers."""
