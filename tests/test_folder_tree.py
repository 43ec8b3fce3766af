"""Which files of a folder are documents, and what becomes of their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hsd_docparse.state import FILE
from hsd_docparse.tree import Look, Tree

PDF = b"%PDF-1.7"


def made(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(PDF)
    return folder


def look(folder: Path, *suffixes: str) -> Look:
    return Tree(folder, folder / "out", suffixes).look()


def names(seen: Look) -> dict[str, str]:
    return {path: found.name for path, found in seen.found.items()}


def test_documents_are_told_by_content(tmp_path: Path) -> None:
    made(tmp_path, "a.txt", "sub/b")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "d.pdf").write_text("no document")
    (tmp_path / "empty.pdf").touch()
    seen = look(tmp_path)
    assert names(seen) == {"a.txt": "a", "c.png": "c", "sub/b": "sub/b"}
    assert (seen.skipped, seen.unreadable) == (2, [])


def test_hidden_files_and_outputs_are_passed_over(tmp_path: Path) -> None:
    made(tmp_path, "a.pdf", ".b.pdf", ".git/c.pdf", "out/d.pdf", "old/e.pdf", f"old/{FILE}")
    seen = look(tmp_path)
    assert list(seen.found) == ["a.pdf"]
    assert seen.skipped == 0


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    made(tmp_path, "in/a.pdf", "beside/b.pdf")
    (tmp_path / "in/up").symlink_to(tmp_path)
    (tmp_path / "in/self").symlink_to(tmp_path / "in")
    (tmp_path / "in/nowhere.pdf").symlink_to(tmp_path / "missing.pdf")
    (tmp_path / "in/other").symlink_to(tmp_path / "beside")
    seen = look(tmp_path / "in")
    assert list(seen.found) == ["a.pdf", "other/b.pdf", "up/beside/b.pdf"]


def test_names_depend_on_the_folder_alone(tmp_path: Path) -> None:
    made(tmp_path, "b/a.pdf", "a.png", "a.pdf", "A.tif")
    assert names(look(tmp_path)) == {
        "A.tif": "A",
        "a.pdf": "a.pdf",
        "a.png": "a.png",
        "b/a.pdf": "b/a",
    }


def test_outputs_do_not_meet_folders_or_the_report(tmp_path: Path) -> None:
    made(tmp_path, "a.pdf", "a.md/x.pdf", "report.pdf", "a.md/report.pdf")
    assert names(look(tmp_path, ".md", ".json")) == {
        "a.pdf": "a.pdf",
        "report.pdf": "report.pdf",
        "a.md/x.pdf": "a.md/x",
        "a.md/report.pdf": "a.md/report",
    }
    assert names(look(tmp_path, ".html"))["report.pdf"] == "report"


def test_no_output_goes_into_the_folder_that_is_read(tmp_path: Path) -> None:
    made(tmp_path, "out/in/a.pdf", "out/in/sub/b.pdf", "out/in/in/c.pdf")
    seen = Tree(tmp_path / "out/in", tmp_path / "out", [".md"]).look()
    assert list(seen.found) == ["a.pdf", "sub/b.pdf"]
    assert "in/in is left out" in seen.unreadable[0]


def test_a_file_that_was_written_again_is_looked_into_again(tmp_path: Path) -> None:
    made(tmp_path, "a.pdf")
    tree = Tree(tmp_path, tmp_path / "out", [])
    assert list(tree.look().found) == ["a.pdf"]
    (tmp_path / "a.pdf").write_bytes(b"something else")
    assert list(tree.look().found) == []


def test_what_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    made(tmp_path, "a.pdf")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.pdf")).write_bytes(PDF)
    except OSError:
        pytest.skip("this file system has no such names")
    seen = look(tmp_path)
    assert list(seen.found) == ["a.pdf"]
    assert "not UTF-8" in seen.unreadable[0]
