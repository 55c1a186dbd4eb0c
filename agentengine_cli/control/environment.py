"""What the memory server's environment is made of. The caller's own environment is not inherited.

Keys come from the project's secrets, then from `.env` beside the stack. A key that only the
calling shell has is not used; the refusal then says so.
"""

import hashlib
import hmac
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from agentengine_cli.errors import CliError
from memory_server.project_config import MemoryConfig, connection_strings, required_keys

PROVIDER_KEYS = (
    "VOYAGE_API_KEY",
    "LLM_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "CEREBRAS_API_KEY",
)
"""The keys a memory server may be given; it reads no other."""
OF_THE_STORE = ("MONGODB_URI", "MONGOMEM_DB_NAME")
"""Where memory is: for the server alone, never for an agent."""
SETTINGS = (
    *OF_THE_STORE,
    "REQUIRE_PROJECT_SCOPED_DB",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "AGENTENGINE_INDEX_MEMORY_MB",
    "AGENTENGINE_INVOKE_SECONDS",
    "AGENTENGINE_CUSTOM_MEMORY_TYPES",
    "AGENTENGINE_RATE_LIMIT",
    "AGENTENGINE_ALLOWED_ORIGINS",
    "AGENTENGINE_TRUSTED_PROXIES",
    "AGENTENGINE_WORKERS",
)
"""What else may be set through a secret or `.env`."""
MACHINE = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "SystemRoot")
"""What a program needs of the machine it runs on; also every LC_*, and PYTHONPATH."""


class DotenvUnreadable(CliError):
    """The `.env` file cannot be read."""


class KeyMissing(CliError):
    """A configured provider has no key."""


class MongoUriMissing(CliError):
    """An external MongoDB is asked for, and its address is nowhere."""


class MongoUriUnusable(CliError):
    """The address of a MongoDB deployment is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySources:
    """Where keys and settings are looked for, in order, and what was found there."""

    secrets: Mapping[str, str] = field(repr=False)
    dotenv: Mapping[str, str] = field(repr=False)
    dotenv_path: Path
    dotenv_bad: Sequence[int] = ()
    """The numbers of its lines that are no entries."""
    shell: Mapping[str, str] = field(repr=False)
    """The caller's environment: looked at to explain, never used."""

    def find(self, name: str) -> str | None:
        """Return a value from the secrets or `.env`; a blank one counts as unset."""
        for source in (self.secrets, self.dotenv):
            if value := source.get(name, "").strip():
                return value
        return None

    def searched(self, names: Sequence[str]) -> str:
        """Say where these names were looked for, in order, and which the shell alone has."""
        places = [f"secret {name}" for name in names]
        places += [f"{name} in {self.dotenv_path}" for name in names]
        notes = [f"{n} was found in your shell, not in .env" for n in names if self._in_shell(n)]
        lines = ", ".join(map(str, self.dotenv_bad))
        notes += (
            [f"not of the form NAME=value in {self.dotenv_path}: line {lines}"] if lines else []
        )
        return "; ".join([f"looked for {', '.join(places)}", *notes])

    def _in_shell(self, name: str) -> bool:
        return self.find(name) is None and bool(self.shell.get(name, "").strip())


def read_dotenv(path: Path) -> dict[str, str]:
    """Return a dotenv file's entries as they are written, without interpolation."""
    return read_lines(path)[0]


def read_lines(path: Path) -> tuple[dict[str, str], Sequence[int]]:
    """Do as `read_dotenv`, and return the numbers of the lines that are no entries."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, ()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DotenvUnreadable(f"Cannot read {path}: {reason}") from error
    return entries(text)


def entries(text: str) -> tuple[dict[str, str], Sequence[int]]:
    """Return the entries of a dotenv file's text, and the numbers of the lines that are none."""
    found: dict[str, str] = {}
    bad: list[int] = []
    for binding in parse_stream(io.StringIO(text)):
        if binding.key is not None and binding.value is not None:
            found[binding.key] = binding.value
        elif binding.error or binding.key is not None:
            bad.append(_line(binding))
    return found, bad


def _line(binding: Binding) -> int:
    """Return where it begins, behind the blank lines that the parser counts to it."""
    text = binding.original.string
    blank = text[: len(text) - len(text.lstrip())]
    return binding.original.line + blank.count("\n")


def check_keys(config: MemoryConfig, sources: KeySources) -> None:
    """Raise `KeyMissing`, with everything that was looked for, unless every provider has a key."""
    missing = [key for key in required_keys(config) if not any(map(sources.find, key.names))]
    if missing:
        raise KeyMissing(
            "Nothing was started, because a configured provider has no key",
            hint=f"agentengine secret set {missing[0].names[0]}, or a line in "
            f"{sources.dotenv_path}; or use the built-in models, which need none: provider local "
            "in project-config.yaml, or --local-models",
            problems=[
                f"{key.purpose} ({key.provider}): {sources.searched(key.names)}" for key in missing
            ],
        )


def check_mongodb(sources: KeySources, *, required: bool) -> None:
    """Raise `MongoUriMissing` when an external MongoDB is required and not named.

    Raises `MongoUriUnusable` for an address that cannot be one, without showing it.
    """
    uri = sources.find("MONGODB_URI")
    if uri is not None and (problem := connection_strings.problem_of(uri)):
        place = "the secret" if sources.secrets.get("MONGODB_URI") else f"{sources.dotenv_path}"
        raise MongoUriUnusable(
            f"Nothing was started: MONGODB_URI of {place} cannot be used: {problem}",
            hint="agentengine secret set MONGODB_URI",
        )
    if required and uri is None:
        raise MongoUriMissing(
            "Nothing was started: MONGODB_URI is required because dev.yaml sets "
            f"services.mongodb.local to false ({sources.searched(['MONGODB_URI'])})",
            hint="Set it there, or remove that line to use the embedded store",
        )


def provided(sources: KeySources) -> dict[str, str]:
    """Return the keys and settings the server is given."""
    found = {name: sources.find(name) for name in (*PROVIDER_KEYS, *SETTINGS)}
    return {name: value for name, value in found.items() if value is not None}


def machine(shell: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the caller's environment that only describes the machine."""
    kept = {name: shell[name] for name in MACHINE if name in shell}
    kept |= {name: value for name, value in shell.items() if name.startswith("LC_")}
    if path := shell.get("PYTHONPATH"):
        # The server does not run in the caller's directory.
        kept["PYTHONPATH"] = os.pathsep.join(map(_absolute, path.split(os.pathsep)))
    return kept


def fingerprint(values: Mapping[str, str], *, key: str) -> str:
    """Return a digest that changes with the values; they cannot be guessed without `key`."""
    text = "\0".join(f"{name}={values[name]}" for name in sorted(values))
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


_absolute: Callable[[str], str] = os.path.abspath
