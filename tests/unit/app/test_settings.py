from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings, load_settings
from records.errors import SettingsError

CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "LANGSMITH_TRACING", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_key_or_an_address_makes_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load_settings().has_model
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/")
    assert load_settings().has_model
    assert load_settings().base_url == "http://127.0.0.1:1/v1"


def test_the_env_file_is_read_and_the_environment_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(f"OPENAI_API_KEY={CANARY}\nKERNEL_SCIENTIST_BUDGET_USD=2.5\nOPENAI_MODEL=small\n")
    monkeypatch.setenv("KERNEL_SCIENTIST_BUDGET_USD", "7")
    settings = load_settings()
    assert (settings.budget_usd, settings.model, settings.secrets()) == (7.0, "small", (CANARY,))


def test_a_role_may_have_its_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_MODEL", "large")
    monkeypatch.setenv("KERNEL_SCIENTIST_MODEL_CRITIC", "small")
    models = load_settings().models()
    assert models["critic"] == "small"
    assert models["coder"] == models["planner"] == "large"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KERNEL_SCIENTIST_BUDGET_USD", "-1"),
        ("KERNEL_SCIENTIST_CORES", "none"),
        ("OPENAI_BASE_URL", "ftp://somewhere"),
        ("LANGSMITH_TRACING", "perhaps"),
        ("KERNEL_SCIENTIST_MODEL_TIMEOUT_S", "0"),
    ],
)
def test_a_bad_value_is_one_sentence_that_names_the_variable_and_hides_the_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    text = str(caught.value)
    assert name in text
    assert "\n" not in text
    assert value not in text.replace(name, "") or value in ("0", "-1")


def test_settings_are_frozen_and_never_show_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    settings = load_settings()
    assert CANARY not in repr(settings) + str(settings)
    with pytest.raises(ValidationError):
        settings.model = "another"  # type: ignore[misc]


def test_the_knowledge_store_lives_in_the_cache_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load_settings().knowledge == tmp_path / "cache" / "kernel-scientist" / "knowledge"
    monkeypatch.setenv("KERNEL_SCIENTIST_KNOWLEDGE_FOLDER", str(tmp_path / "shelf"))
    assert load_settings().knowledge == tmp_path / "shelf"


def test_an_env_file_that_is_no_text_is_refused() -> None:
    Path(".env").write_bytes(b"\xff\xfe\x00OPENAI")
    with pytest.raises(SettingsError, match=r"\.env"):
        load_settings()


def test_every_field_is_documented() -> None:
    (settings,) = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(settings, ast.ClassDef)
    follows = dict(pairwise(settings.body))
    fields = {
        node.target.id: node
        for node in follows
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert set(fields) >= set(Settings.model_fields)
    documented = {name for name, node in fields.items() if isinstance(follows[node], ast.Expr)}
    assert set(Settings.model_fields) - documented == set()
