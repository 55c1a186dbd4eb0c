import random

from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-untyped]
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from evaluation.metrics.words import mteval_words, treebank_words

# ruff: noqa: RUF001 - these are the characters meant
PIECES = (
    "can't cannot gonna wanna ' '' \" `` ( ) [ ] { } < > . .. ... , : ; @ # $ % & ? ! * - -- — – "
    "I'd we're they'll 'tis 'twas d'ye more'n gimme lemme 3.50 1,000 10:30 e.g. U.S. end. it's "
    "dogs' “quoted” ‘one’ «two» „three &amp; &lt;b&gt; <skipped> half-\n\n a\tb é ß 8-9 word"
).split(" ")


def test_words_are_those_of_nltk_on_any_text() -> None:
    oracle = NLTKWordTokenizer()
    wrong = [text for text in texts() if treebank_words(text) != oracle.tokenize(text.lower())]

    assert wrong == []


def test_words_are_those_of_sacrebleu_on_any_text() -> None:
    oracle = Tokenizer13a()  # type: ignore[no-untyped-call]
    wrong = [text for text in texts() if list(mteval_words(text)) != oracle(text).split()]

    assert wrong == []


def texts() -> list[str]:
    chance = random.Random(5)  # noqa: S311 - the same texts each time
    return [
        chance.choice(["", " "]).join(chance.choices(PIECES, k=chance.randint(0, 12)))
        for _ in range(5000)
    ]
