"""Data and settings: JSON, YAML, TOML and INI, kept as text and cut along their entries."""
