from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from hsd_docparse.errors import InputError
from hsd_docparse.sources import open_source
from hsd_docparse.sources.page_ranges import parse_page_ranges, select_pages


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1-3,7", [1, 2, 3, 7]),
        ("5", [5]),
        ("8-", [8, 9, 10]),
        (" 2 , 1 ", [1, 2]),
        ("3,1-4", [1, 2, 3, 4]),
    ],
)
def test_page_ranges(text: str, numbers: list[int]) -> None:
    assert parse_page_ranges(text, 10) == numbers


@pytest.mark.parametrize("text", ["", "0", "11", "3-1", "a", "1--2", "1,", "-3", "1-99999999999"])
def test_bad_page_ranges_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_page_ranges(text, 10)


def test_selected_pages_are_in_document_order() -> None:
    assert select_pages([4, 2, 4], 5) == [2, 4]
    assert select_pages(None, 3) == [1, 2, 3]
    with pytest.raises(InputError, match="no page 6"):
        select_pages([6], 5)


def test_type_is_told_by_content(tmp_path: Path) -> None:
    picture = tmp_path / "picture.pdf"
    Image.new("RGB", (30, 20)).save(picture, "PNG")
    with open_source(picture) as document:
        (page,) = document.pages()
        assert (page.width, page.height) == (30, 20)
    with pymupdf.open() as pdf:
        pdf.new_page(width=100, height=200)
        pdf.save(tmp_path / "paper.png")
    with open_source(tmp_path / "paper.png") as document:
        (page,) = document.pages()
        assert (page.width, page.height) == (100, 200)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello world", "neither a PDF nor an image"),
        (b"PK\x03\x04word", "save it as PDF"),
        (b"%PDF-1.7\n%%EOF\n", "damaged"),
        (b"\x89PNG\r\n\x1a\n", "damaged"),
    ],
)
def test_unreadable_files_are_named_in_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        open_source(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_source(tmp_path / "none.pdf")
    with pytest.raises(InputError, match="is a folder"):
        open_source(tmp_path)


def test_importing_sources_loads_no_reader() -> None:
    code = "import sys, hsd_docparse.sources; print('pymupdf' in sys.modules, 'PIL' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout.split() == ["False", "False"], output.stderr
