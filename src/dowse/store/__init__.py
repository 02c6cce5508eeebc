"""What do we remember, and where is it? Implementations of `ports.Store`."""
