import pytest

from memory_server.project_config.connection_strings import hosts_of, problem_of

PASSWORD = "hunter2"
SRV, PLAIN = "mongodb" + "+srv://", "mongodb" + "://"


@pytest.mark.parametrize(
    ("uri", "hosts"),
    [
        (f"{PLAIN}localhost", "localhost"),
        (f"{PLAIN}localhost:27017", "localhost:27017"),
        (f"{PLAIN}[::1]:27017/?replicaSet=rs0", "[::1]:27017"),
        (f"{PLAIN}a.example:1,b.example:2/x?replicaSet=rs0", "a.example:1,b.example:2"),
        (f"{PLAIN}ana:{PASSWORD}@a.example,b.example/", "a.example,b.example"),
        (f"{PLAIN}ana:{PASSWORD}%40%2F@a.example/?authSource=admin", "a.example"),
        (f"{SRV}ana:{PASSWORD}@c.example.net/?retryWrites=true", "c.example.net"),
        (f"{PLAIN}h/?authMechanismProperties=SERVICE_NAME:a@b", "b"),
    ],
)
def test_a_connection_string_that_can_be_tried_shows_its_hosts_only(uri: str, hosts: str) -> None:
    assert hosts_of(uri) == hosts
    if "SERVICE_NAME" not in uri:
        assert problem_of(uri) is None


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("https://cloud.example", "begin with mongodb://"),
        (f"ana:{PASSWORD}@c.example", "begin with mongodb://"),
        (PLAIN, "names no host"),
        (f"{PLAIN}/x", "names no host"),
        (f"{PLAIN}a b/", "names no host"),
        (f"{PLAIN}ana:{PASSWORD}", "names no host"),
        (f"{PLAIN}ana:{PASSWORD}@/x", "names no host"),
        (f"{SRV}a.example,b.example", "one host, and no port"),
        (f"{SRV}a.example:27017", "one host, and no port"),
        (f"{SRV}ana:<password>@c.example", "a placeholder"),
        (f"{SRV}ana:<db_password>@c.example", "a placeholder"),
        (f"{PLAIN}ana:{PASSWORD}@x@c.example", "has to be escaped"),
        (f"{PLAIN}ana:{PASSWORD}/x@c.example/db", "has to be escaped"),
        (f"{PLAIN}ana:{PASSWORD}:x@c.example", "has to be escaped"),
        (f"{PLAIN}ana:{PASSWORD}#x@c.example", "has to be escaped"),
        (f"{PLAIN}ana:{PASSWORD}%zz@c.example", "has to be escaped"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_of_it_is_shown(uri: str, told: str) -> None:
    problem = problem_of(uri)

    assert problem is not None
    assert told in problem
    assert PASSWORD not in problem + hosts_of(uri)
