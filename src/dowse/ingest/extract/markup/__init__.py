"""Markup that people write by hand: reStructuredText, AsciiDoc, Org and LaTeX, read line by line as it stands."""
