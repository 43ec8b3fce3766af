"""Lines in scripts that the bundled recogniser does not know are never taken for text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hsd_docparse.draft import ocr, tesseract
from hsd_docparse.draft.recognizer import GLYPH, Reading

TESSERACT = """#!/bin/sh
case "$*" in
  *--list-langs*) printf 'List of available languages (2):\\nheb\\nosd\\n' ;;
  *"-l osd"*) cat > /dev/null; printf 'Page number: 0\\nScript: Hebrew\\nScript confidence: 9\\n' ;;
  *"-l heb tsv"*) cat > /dev/null; cat "$(dirname "$0")/words.tsv" ;;
  *) exit 1 ;;
esac
"""
COLUMNS = "level page_num block_num par_num line_num word_num left top width height conf text"
WORDS = [
    "4 1 1 1 1 0 10 200 300 20 -1 ",
    "5 1 1 1 1 1 200 200 100 20 90 שלום",
    "5 1 1 1 1 2 10 202 150 18 50 עולם",
    "5 1 1 1 2 1 10 240 100 20 80 סוף",
]


@pytest.fixture
def _no_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    tesseract.installed_languages.cache_clear()
    yield
    tesseract.installed_languages.cache_clear()


@pytest.fixture
def _a_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    script = tmp_path / "tesseract"
    script.write_text(TESSERACT)
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    table = [COLUMNS, *WORDS]
    (tmp_path / "words.tsv").write_text("\n".join(row.replace(" ", "\t") for row in table))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    tesseract.installed_languages.cache_clear()
    yield
    tesseract.installed_languages.cache_clear()


@pytest.fixture(autouse=True)
def _readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two long lines, the second read with little certainty."""

    class Detector:
        def find(self, image: np.ndarray) -> np.ndarray:
            return np.array(
                [[[10, y], [310, y], [310, y + 20], [10, y + 20]] for y in (100, 200)], np.float32
            )

    class Recognizer:
        def read(self, lines: list[np.ndarray]) -> list[Reading]:
            known = [("Well read", 0.99), ("N P, Do1", 0.6)]
            return [
                Reading(text, [p] * len(text), np.zeros((len(text), GLYPH), np.float32))
                for text, p in known[: len(lines)]
            ]

    monkeypatch.setattr(ocr, "shared_detector", Detector)
    monkeypatch.setattr(ocr, "shared_recognizer", Recognizer)


@pytest.mark.usefixtures("_no_tesseract")
def test_without_tesseract_they_are_left_out_and_named() -> None:
    reading = ocr.read_page(Image.new("RGB", (400, 400), "white"))
    assert [line.text for line in reading.lines] == ["Well read"]
    (warning,) = reading.warnings
    assert warning.startswith("1 line in a script or a hand that the bundled OCR cannot read")


@pytest.mark.usefixtures("_a_tesseract")
def test_with_tesseract_they_are_read_in_logical_order() -> None:
    reading = ocr.read_page(Image.new("RGB", (400, 400), "white"))
    assert [line.text for line in reading.lines] == ["Well read", "שלום עולם", "סוף"]
    assert reading.warnings == ["1 line in Hebrew script read by Tesseract (heb)."]
    line = reading.lines[1]
    assert line.box == (10, 200, 300, 220)
    assert line.probabilities == pytest.approx([0.9] * 4 + [0.5] * 5)


@pytest.mark.usefixtures("_a_tesseract")
def test_a_script_without_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract, "script_of", lambda image: "Thai")
    reading = ocr.read_page(Image.new("RGB", (400, 400), "white"))
    (warning,) = reading.warnings
    assert "Thai script" in warning
    assert "tesseract-ocr-tha" in warning
