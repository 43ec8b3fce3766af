from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from hsd_docparse.convert import Settings
from hsd_docparse.export import Outputs, exporting

SETTINGS = Settings(mode="draft")
OUTPUTS = Outputs(("md", "pdf"))


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    with pymupdf.open() as document:
        document.new_page(width=100, height=100)
        document.save(path)
    return path


def test_a_pdf_appears_beside_the_text_and_not_over_its_source(scan: Path) -> None:
    before = scan.read_bytes()
    with exporting(scan, scan.with_suffix(""), SETTINGS, OUTPUTS) as (_, reads):
        assert len(list(reads)) == 1
    names = sorted(path.name for path in scan.parent.iterdir())
    assert names == ["scan.md", "scan.ocr.pdf", "scan.pdf"]
    assert scan.read_bytes() == before


def stopped(path: Path) -> None:
    with exporting(path, path.with_suffix(""), SETTINGS, OUTPUTS) as (_, reads):
        next(reads)
        raise KeyboardInterrupt


def test_nothing_stays_of_what_was_not_finished(scan: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        stopped(scan)
    assert list(scan.parent.iterdir()) == [scan]
