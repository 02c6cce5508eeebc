"""How good are the answers here? Queries made from the user's own documents, or judged by the user.

Works on a snapshot and a search function that it is given, so that it measures just what a search does.
`evaluation.py` is the story of one run: `items.py` makes queries of documents, `judged.py` reads those that somebody
judged, `asking.py` asks them in every mode, `metrics.py` has the figures, `history.py` compares with the run before.
"""

from dowse.evaluate.evaluation import Plan, evaluate
from dowse.evaluate.results import Comparison, Difference, Evaluation, Judged, ModeFigures

__all__ = ["Comparison", "Difference", "Evaluation", "Judged", "ModeFigures", "Plan", "evaluate"]
