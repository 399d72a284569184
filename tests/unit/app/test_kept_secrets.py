from pathlib import Path

import pytest

from app.kept_secrets import is_secret, secrets_in, without_secrets
from app.settings import load_settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "hf_0123456789ab"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG"),
        ("ANTHROPICAPIKEY", "sk-0123456789"),
        ("PGPASSWORD", "correct horse battery"),
        ("HTTPS_PROXY", "http://person:pass@proxy.example:3128"),
        ("SOME_ADDRESS", "postgresql://person:pass@host/kernels"),
    ],
)
def test_a_variable_is_secret_by_its_name_or_for_a_password_in_it(name: str, value: str) -> None:
    assert is_secret(name, value)
    assert secrets_in({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/srv/kernels"),
        ("OPENAI_API_KEY", "none"),  # a server of one's own takes any word
        ("KERNEL_SCIENTIST_MAX_TOKENS", "100000000000"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-agent/socket"),
        ("KEYBOARD_LAYOUT", "german-nodeadkeys"),
        ("HTTPS_PROXY", "http://proxy.example:3128"),
    ],
)
def test_others_are_not(name: str, value: str) -> None:
    assert not is_secret(name, value)
    assert not secrets_in({name: value})


def test_the_place_of_a_file_is_no_secret(tmp_path: Path) -> None:
    place = tmp_path / "credentials.json"
    place.touch()
    assert not is_secret("GOOGLE_APPLICATION_CREDENTIALS", str(place))


def test_settings_hide_what_stands_beside_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789ab")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer otlp-0123456789")
    (tmp_path / ".env").write_text("MY_DATABASE=postgresql://person:p4ssw0rd-of-it@host/x\n")
    found = load_settings().secrets()
    assert {"hf_0123456789ab", "p4ssw0rd-of-it", "otlp-0123456789"} <= set(found)
    assert "hf_0123456789ab" not in repr(load_settings())


def test_a_child_that_asks_no_service_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789ab")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=1")
    monkeypatch.setenv("KERNEL_SCIENTIST_CORES", "2")
    left = without_secrets()
    assert left["KERNEL_SCIENTIST_CORES"] == "2" and "PATH" in left
    assert not {"HF_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS"} & set(left)
