"""Taking over what somebody has set up in another program, whose files are only read.

`qmd.py` reads it, `rules.py` translates what is left out, `plan.py` compares it with what is here and says what to do.
"""
