"""What Ana and Lucía say to their assistant in the demonstration."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: its id, when it took place, and who said what."""

    id: str
    date: str
    turns: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Talk:
    """The sessions of one user, and what is asked after the first and after the last."""

    user_id: str
    language: str
    question: str
    sessions: Sequence[Session]


_ANA = (
    Session(
        "ana-march",
        "2026-03-02T18:05:00+01:00",
        (
            ("user", "Hi, I'm Ana. I always fly out of Boston."),
            ("assistant", "Noted, Ana. Anything else I should know for your trips?"),
            ("user", "I'm allergic to shellfish, and I have two cats."),
            ("assistant", "Thank you, I'll keep that in mind."),
            ("user", "In our team, PNR means the booking code of a trip."),
            (
                "user",
                "Whenever a flight is cancelled, first call the hotel, then rebook the flight, "
                "and finally tell my manager.",
            ),
        ),
    ),
    Session(
        "ana-april",
        "2026-04-20T09:30:00+02:00",
        (
            ("user", "I flew to Lisbon last week and gave a talk on Friday."),
            ("assistant", "How did it go?"),
            ("user", "Really well. By the way, I am allergic to shellfish, as you know."),
            ("assistant", "Yes, I remember."),
        ),
    ),
    Session(
        "ana-june",
        "2026-06-08T08:15:00-06:00",
        (
            ("user", "I moved to Denver last month, so I always fly out of Denver now."),
            ("assistant", "Congratulations on the move!"),
            ("user", "And I have three cats now."),
            ("assistant", "The more the merrier."),
        ),
    ),
)

_LUCIA = (
    Session(
        "lucia-marzo",
        "2026-03-03T10:20:00+01:00",
        (
            ("user", "Hola, me llamo Lucía y vivo en Valencia."),
            ("assistant", "Encantado, Lucía. ¿Algo más que deba saber?"),
            ("user", "Soy vegetariana y tengo dos perros."),
            ("assistant", "Lo tendré en cuenta."),
            ("user", "En mi equipo, ODT significa orden de trabajo."),
        ),
    ),
    Session(
        "lucia-abril",
        "2026-04-21T19:00:00+02:00",
        (
            ("user", "La semana pasada corrí mi primera maratón en Madrid."),
            ("assistant", "¡Enhorabuena!"),
            ("user", "Gracias. Recuerda que soy vegetariana."),
            ("assistant", "Lo recuerdo."),
        ),
    ),
    Session(
        "lucia-junio",
        "2026-06-09T09:00:00+02:00",
        (
            ("user", "El mes pasado me mudé a Bilbao. Ahora vivo en Bilbao."),
            ("assistant", "¡Qué cambio!"),
            ("user", "Y ahora tengo tres perros."),
            ("assistant", "Cuantos más, mejor."),
        ),
    ),
)

ANA = Talk("ana", "English", "Which airport do I fly from?", _ANA)
LUCIA = Talk("lucia", "Spanish", "¿En qué ciudad vivo?", _LUCIA)
