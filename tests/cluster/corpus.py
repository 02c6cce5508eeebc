"""Made-up texts whose words are spread as words are, the same in every run."""

import random

_TREES = ("walnut", "cherry", "maple", "cedar", "birch", "willow", "ash", "elm", "oak", "pine", "spruce", "larch")
_WORDS = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "sigma",
    "tau",
    *_TREES,
)
QUESTIONS = ("alpha", "walnut cherry", "pine larch oak", "alpha beta gamma delta", "unknown words", "sigma tau elm")


def sentences(count: int) -> list[str]:
    """Texts of one to four paragraphs; the first words of the list are common, the last ones rare."""
    chance = random.Random(11)  # noqa: S311 - chance, not secrecy
    weights = [1 / (place + 1) for place in range(len(_WORDS))]
    return [
        "\n\n".join(
            " ".join(chance.choices(_WORDS, weights, k=chance.randint(3, 60))) for _ in range(chance.randint(1, 4))
        )
        for _ in range(count)
    ]
