"""Bodies and answers that hold secrets do not show them when they are logged."""

import pytest
from pydantic import BaseModel

from memory_server.api.schemas.accounts import Token
from memory_server.api.schemas.auth import LoginBody, RefreshBody
from memory_server.api.schemas.common import Answer, Body
from memory_server.api.schemas.secrets import SecretBody

SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "shown",
    [
        LoginBody(username="ana", password=SECRET),
        RefreshBody(refresh_token=SECRET),
        Token(access_token=SECRET, expires_in=1),
        SecretBody.model_validate({"value": SECRET}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_secret_is_not_shown(shown: Body | Answer) -> None:
    assert SECRET not in repr(shown)
    assert SECRET not in str(shown)


def every_model(kind: type[BaseModel]) -> set[type[BaseModel]]:
    below = set(kind.__subclasses__())
    return below.union(*map(every_model, below))


def test_every_field_that_is_named_like_a_secret_is_hidden() -> None:
    models = every_model(Body) | every_model(Answer)
    named = {
        (model.__name__, name): field.repr
        for model in models
        for name, field in model.model_fields.items()
        if name in ("password", "client_secret", "access_token", "refresh_token")
    }

    assert len(named) >= 6
    assert not [name for name, is_shown in named.items() if is_shown]
