"""A byte-level BPE tokenizer like the model's, trained in a moment on a few sentences."""

from functools import cache

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

SENTENCES = (
    "We'll walk the dog, won't we? It's 10:45, and they've said: 'don't!'",
    "def count(text):\n    return len(text)  # counts\n\n\n\tindented with a tab\r\n",
    "Größe, naïve café, Ελληνικά, русский текст, שלום, ١٢٣, ½ and Ⅷ",
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ！",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n--------========\n\n    code    here",
)


@cache
def tiny_tokenizer_json() -> bytes:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=600,
        show_progress=False,
        special_tokens=["<s>", "</s>", "<mask>"],
        initial_alphabet=ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(SENTENCES * 4, trainer)
    return tokenizer.to_str().encode()
