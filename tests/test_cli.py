from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_parts import fakes
from PIL import Image
from typer.testing import CliRunner, Result

import hsd_docparse
from hsd_docparse.cli.convert import app
from hsd_docparse.cli.tally import Tally, ranges, remarks, summary
from hsd_docparse.convert import Conversion
from hsd_docparse.document import Document, Page, Speculation
from hsd_docparse.export import output_names

__all__ = ["fakes"]

ROOT = Path(hsd_docparse.__file__).parents[1]


@pytest.fixture
def folder(tmp_path: Path, fakes: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, words in {
        "good.pdf": "one two three",
        "partly.pdf": "one bug damaged",
        "drawn.pdf": "figure figure",
        "odd.pdf": "odd odd one odd",
        "empty.pdf": "",
        "stopped.pdf": "one interrupt",
    }.items():
        (tmp_path / name).write_text(words)
    return tmp_path


def docparse(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_one_file_goes_to_standard_output(folder: Path) -> None:
    result = docparse("good.pdf", "--target", "none", "--pages", "1,3")
    assert result.exit_code == 0
    assert result.stdout == "<!-- page 1 -->\n\none\n\n<!-- page 3 -->\n\nthree\n"
    assert result.stderr == ""
    assert docparse("good.pdf", "-o", "-", "-f", "txt").stdout == "ONE\n\fTWO\n\fTHREE\n"


def test_formats_go_to_a_folder(folder: Path) -> None:
    result = docparse("good.pdf", "-o", "new/out", "-f", "md,html,json,txt")
    assert result.exit_code == 0
    assert result.output == ""
    written = sorted(path.name for path in (folder / "new/out").iterdir())
    assert written == ["good.html", "good.json", "good.md", "good.txt"]
    data = json.loads((folder / "new/out/good.json").read_text())
    assert [page["number"] for page in data["pages"]] == [1, 2, 3]
    assert (data["target"], data["mode"]) == ("fake", "lossless")


def test_a_failed_page_is_marked_and_told(folder: Path) -> None:
    result = docparse("partly.pdf", "-o", "out", "--mode", "draft")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "partly.pdf, page 2: unexpected ZeroDivisionError (by nothing); "
        "--debug shows where it arose.",
        "partly.pdf, page 3: it is damaged.",
    ]
    markdown = (folder / "out/partly.md").read_text()
    assert "> **Page 3 could not be read:** it is damaged." in markdown


def test_a_failed_file_costs_no_other(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/empty.md").write_text("from before")
    result = docparse("missing.pdf", "empty.pdf", "partly.pdf", "good.pdf", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[:2] == [
        "missing.pdf does not exist.",
        "empty.pdf is empty.",
    ]
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "empty.md",
        "good.md",
        "partly.md",
    ]
    assert (folder / "out/empty.md").read_text() == "from before"


def test_a_result_that_cannot_be_written_is_a_sentence(folder: Path) -> None:
    (folder / "out/good.md.part").mkdir(parents=True)
    result = docparse("good.pdf", "partly.pdf", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr.startswith("out/good.md.part: Is a directory.\n")
    assert (folder / "out/partly.md").exists()


def test_an_interrupted_file_leaves_nothing_behind(folder: Path) -> None:
    result = docparse("stopped.pdf", "-o", "out")
    assert result.exit_code not in (0, 3)
    assert list((folder / "out").iterdir()) == []


def test_a_page_that_does_not_exist_is_a_sentence(folder: Path) -> None:
    result = docparse("good.pdf", "--pages", "2-9")
    assert result.exit_code == 1
    assert result.stderr.startswith("good.pdf: There is no page 9")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("pages", ["three", "3-1", "1,,2", ""])
def test_pages_that_nobody_understands_are_a_wrong_command(folder: Path, pages: str) -> None:
    result = docparse("good.pdf", "--pages", pages)
    assert result.exit_code == 2
    assert result.stderr.startswith("docparse: Page range ")
    assert len(result.stderr.splitlines()) == 1


def test_figures_and_layouts_are_saved_and_linked(folder: Path) -> None:
    result = docparse("drawn.pdf", "-o", "out", "--figures", "--debug-layout", "--dpi", "72")
    assert result.exit_code == 0
    with Image.open(folder / "out/drawn.figures/page-2-fig-1.png") as figure:
        assert figure.size == (50, 30)
    with Image.open(folder / "out/drawn.page-1.layout.png") as layout:
        assert layout.size == (9, 9)
    assert "](drawn.figures/page-2-fig-1.png)" in (folder / "out/drawn.md").read_text()


def test_the_same_warning_is_told_once(folder: Path) -> None:
    result = docparse("odd.pdf", "-o", "out")
    assert result.exit_code == 0
    assert result.stderr == "odd.pdf, page 1-2, 4: odd font\n"


def test_only_debug_shows_a_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("hsd_docparse.sources.open_source", broken)
    plain = docparse("good.pdf")
    assert plain.exit_code == 1
    assert len(plain.stderr.splitlines()) == 1
    assert "Traceback" not in plain.stderr
    assert 'raise ZeroDivisionError("by nothing")' in docparse("good.pdf", "--debug").stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["good.pdf", "-f", "docx"], "no format 'docx'"),
        (["good.pdf", "-f", "md,html"], "add -o FOLDER"),
        (["good.pdf", "partly.pdf"], "add -o FOLDER"),
        (["good.pdf", "--figures"], "add -o FOLDER"),
        (["good.pdf", "-f", "pdf"], "add -o FOLDER"),
        (["good.pdf", "-o", "good.md"], "> good.md"),
        (["good.pdf", "-o", "partly.pdf"], "cannot be made"),
        ([], "FILE"),
        (["good.pdf", "--mode", "fast"], "mode"),
        (["."], "add -o FOLDER"),
        (["good.pdf", "-o", "out", "--workers", "2"], "are for folders"),
        ([".", "good.pdf", "-o", "out", "--watch"], "one folder"),
        ([".", "-o", "."], "-o names the folder that is read"),
    ],
)
def test_a_wrong_command_is_explained(folder: Path, arguments: list[str], hint: str) -> None:
    result = docparse(*arguments)
    assert result.exit_code == 2
    assert hint in result.stderr
    assert result.stdout == ""


def test_output_names_never_collide() -> None:
    paths = ["a.pdf", "a.png", "b/a.png", "A.PDF", "a.png.tif", "other.pdf"]
    assert output_names([Path(path) for path in paths]) == [
        "a",
        "a.png",
        "a.png-2",
        "A.PDF",
        "a.png.tif",
        "other",
    ]


def test_page_ranges_as_people_write_them() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


def test_warnings_are_not_a_flood() -> None:
    tally = Tally()
    for number in range(1, 14):
        tally.add(Page(number, 1, 1, warnings=[f"warning {number}"]))
    tally.add(Page(14, 1, 1, error="Page 14 of a.pdf is broken."))
    lines = list(remarks(Path("a.pdf"), tally))
    assert len(lines) == 12
    assert lines[0] == "Page 14 of a.pdf is broken."
    assert lines[-1] == "a.pdf: 3 more warnings; -f json lists them all."


def test_the_summary_says_what_speculation_gained() -> None:
    tally = Tally()
    for number in (1, 2):
        speculation = Speculation("mini", "lossless", True, tokens=30, region_calls=1, page_calls=4)
        tally.add(Page(number, 1, 1, speculation=speculation))
    document = Document("a.pdf", 2, mode="lossless", target="mini")
    assert summary(Path("a.pdf"), Conversion(document, 2, iter(())), tally, 1.25) == (
        "a.pdf: 2 pages in 1.2 s, lossless with mini, 10 target calls, "
        "7.5 tokens a call on the page"
    )


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hsd_docparse", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_help_and_version_load_nothing_heavy(tmp_path: Path) -> None:
    version = run("--version", cwd=tmp_path)
    assert version.stdout == f"docparse {hsd_docparse.__version__}\n"
    assert "Exit codes" in run("--help", cwd=tmp_path).stdout
    code = (
        "import sys, hsd_docparse.cli.convert; "
        "print([m for m in ('torch', 'cv2') if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "[]\n"


def test_broken_input_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").touch()
    (tmp_path / "text.pdf").write_text("no PDF at all")
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    for name in ("missing.pdf", "empty.pdf", "text.pdf", "cut.png"):
        result = run(name, cwd=tmp_path)
        assert result.returncode == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert name in result.stderr
