"""The recipe of docparse-mini, a few seconds of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models import corpus, fit, render
from models.evaluate import error_rate
from models.train import Scale, train

TINY = Scale(text=300, shards=1, blocks=60, steps=2, checked=1, paragraphs=1)


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No documentation and no fonts are installed."""
    monkeypatch.setattr(corpus, "ROOTS", [])
    monkeypatch.setattr(corpus, "FORTUNES", tmp_path / "none")
    monkeypatch.setenv("PATH", "")


def test_the_recipe_runs_on_a_bare_machine_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fit, "LINES", [4, 12])
    monkeypatch.setattr(fit, "LINE_WEIGHTS", [1, 1])
    monkeypatch.setattr(fit, "DRAWN", 8)
    (score,) = train(tmp_path, TINY)
    assert score.right
    kinds = {json.loads(line)["kind"] for line in (tmp_path / "corpus.jsonl").open()}
    assert {"h1", "p", "code", "cell", "furniture"} <= kinds
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert train(tmp_path, TINY) == [score]
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert "character error" in capsys.readouterr().out


def test_a_machine_without_fonts_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(render.fonts(held=True)) == 1
    assert {ord("a"), ord("Z"), ord("7")} <= render.covered(render.fonts(held=False)[0])


def test_an_error_rate_lies_in_its_interval() -> None:
    pairs = [("right", "right"), ("wrong", "wr0ng"), ("lost", "")]
    rate, low, high = error_rate(pairs)
    assert rate == pytest.approx(5 / 14)
    assert low < rate < high
