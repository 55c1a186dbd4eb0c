"""What a sentence does, told by its first words."""

import pytest

from memory_server.providers.extraction.rules.acts import Act, act_of


@pytest.mark.parametrize(
    ("sentence", "act"),
    [
        ("Hi!", Act.GREETING),
        ("Hello there, Ana.", Act.GREETING),
        ("¡Hola!", Act.GREETING),
        ("Buenos días", Act.GREETING),
        ("Hola, ¿qué tal?", Act.GREETING),
        ("Hi, how are you today?", Act.GREETING),
        ("Hi, where do I live?", Act.QUESTION),
        ("Hi, my name is Ana.", Act.STATEMENT),
        ("Thanks a lot!", Act.THANKS),
        ("Muchas gracias", Act.THANKS),
        ("Bye!", Act.FAREWELL),
        ("Hasta luego.", Act.FAREWELL),
        ("Ok, cool.", Act.ACKNOWLEDGEMENT),
        ("Vale", Act.ACKNOWLEDGEMENT),
        ("Yes, I live in Rome.", Act.STATEMENT),
        ("No, I hate fish.", Act.STATEMENT),
        ("Where do I fly from?", Act.QUESTION),
        ("where do i live", Act.QUESTION),
        ("what airport do I use", Act.QUESTION),
        ("Who is my boss", Act.QUESTION),
        ("what's my name", Act.QUESTION),
        ("Dónde vivo ahora", Act.QUESTION),
        ("donde vivo", Act.QUESTION),
        ("Cuantos gatos tengo", Act.QUESTION),
        ("Cuando era niño vivía en Roma.", Act.STATEMENT),
        ("When I was five I broke my arm.", Act.STATEMENT),
        ("What I want is a dog.", Act.STATEMENT),
        ("Do not call me.", Act.STATEMENT),
        ("Forget where I live.", Act.FORGET),
        ("Please forget everything about me!", Act.FORGET),
        ("Can you delete my address?", Act.FORGET),
        ("Olvida dónde vivo.", Act.FORGET),
        ("Delete old branches on Fridays.", Act.STATEMENT),
        ("I forget names easily.", Act.STATEMENT),
        ("Remember that I like tea.", Act.REMEMBER),
        ("Don't forget that I like tea.", Act.REMEMBER),
        ("Recuerda que me gusta el té.", Act.REMEMBER),
        ("I always fly out of Boston.", Act.STATEMENT),
        ("Siempre vuelo desde Barajas.", Act.STATEMENT),
    ],
)
def test_sentence_is_told_by_what_it_does(sentence: str, act: Act) -> None:
    assert act_of(sentence) is act
