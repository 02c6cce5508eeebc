"""What is in this folder? From bytes to chunks in a store."""
