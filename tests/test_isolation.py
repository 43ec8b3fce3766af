"""Pages that crash, hang or eat all memory cost themselves; the readers here are real processes,
whose drafting is replaced by what the word on a page asks for."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

import hsd_docparse
from hsd_docparse import InputError, PasswordError, isolation
from hsd_docparse.convert import Settings, open_conversion

READER = """
import ctypes, os, sys, time
import hsd_docparse.draft as draft
import hsd_docparse.worker as worker
from hsd_docparse.document import Box, Page, Region

def draft_page(page, *, dpi):
    word = page.text_layer().lines[0].text
    if word == "hang":
        time.sleep(1000)
    if word == "slow":
        time.sleep(1)
    if word == "kill":
        os.kill(os.getpid(), 9)
    if word == "crash":
        ctypes.string_at(0)
    if word == "leave":
        os._exit(7)
    if word == "hoard":
        bytearray(worker.MEMORY)
    if word == "print":
        print("this is no answer", flush=True)
        os.write(1, b"nor is this")
    text = f"{word} {os.getpid()}"
    return Page(page.number, page.width, page.height, [Region("text", Box(0, 0, 9, 9), text)])

draft.draft_page = draft_page
worker._STALE = int(os.environ.get("STALE", worker._STALE))
worker.main()
"""


@pytest.fixture(autouse=True)
def _reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    isolation._stop_all()
    monkeypatch.setattr(isolation, "PROGRAM", READER)
    yield
    isolation._stop_all()


def book(folder: Path, *words: str) -> Path:
    path = folder / "book.pdf"
    with pymupdf.open() as document:
        for word in words:
            document.new_page().insert_text((72, 72), word)
        document.save(path)
    return path


def read(path: Path, deadline: float = 20, **options: object) -> list[tuple[str, str]]:
    """What is on each page, as word and process, or its error."""
    pages = hsd_docparse.iter_pages(path, mode="draft", deadline=deadline, **options)  # type: ignore[arg-type]
    return [
        (page.error, "") if page.error else tuple(page.regions[0].text.split())  # type: ignore[misc]
        for page in pages
    ]


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("crash", "crashed its reader (exit status -11), and was given up."),
        ("leave", "crashed its reader (exit status 7), and was given up."),
        ("hang", "took longer than 2 s, and was given up."),
    ],
)
def test_a_page_that_ends_its_process_costs_itself(tmp_path: Path, word: str, error: str) -> None:
    path = book(tmp_path, "one", word, "three", "four")
    one, lost, three, four = read(path, deadline=2)
    assert lost == (f"Page 2 of {path} {error}", "")
    assert [one[0], three[0], four[0]] == ["one", "three", "four"]
    assert one[1] != three[1] == four[1]


def test_a_page_whose_process_was_killed_is_read_again(tmp_path: Path) -> None:
    pages = hsd_docparse.iter_pages(book(tmp_path, "one", "slow", "three"), mode="draft")
    os.kill(int(next(pages).regions[0].text.split()[1]), 9)
    assert [page.regions[0].text.split()[0] for page in pages] == ["slow", "three"]


def test_a_page_on_which_processes_are_killed_costs_itself(tmp_path: Path) -> None:
    one, lost, three = read(book(tmp_path, "one", "kill", "three"))
    assert "crashed its reader (exit status -9)" in lost[0]
    assert (one[0], three[0]) == ("one", "three")


def test_a_page_that_needs_too_much_memory_costs_itself(tmp_path: Path) -> None:
    one, hoard, three = read(book(tmp_path, "one", "hoard", "three"))
    assert "MemoryError" in hoard[0]
    assert one[1] == three[1]


def test_what_libraries_print_is_no_answer(tmp_path: Path) -> None:
    assert [word for word, _ in read(book(tmp_path, "print", "two"))] == ["print", "two"]


def test_a_process_serves_files_one_after_the_other(tmp_path: Path) -> None:
    path = book(tmp_path, "one", "two")
    first, second = read(path), read(path, pages="2")
    assert first[0][1] == second[0][1]
    with pytest.raises(InputError):
        read(tmp_path / "missing.pdf")
    assert read(path)[0][1] == first[0][1]


def test_files_read_at_once_have_a_process_each(tmp_path: Path) -> None:
    path = book(tmp_path, "one", "two")
    how = Settings(mode="draft")
    with open_conversion(path, how) as a, open_conversion(path, how) as b:
        names = {next(c.reads).page.regions[0].text for c in (a, b)}
    assert len(names) == 2


def test_a_process_that_has_grown_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALE", "1")
    pages = read(book(tmp_path, "one", "two", "three"))
    assert [word for word, _ in pages] == ["one", "two", "three"]
    assert len({process for _, process in pages}) == 3


def test_a_conversion_that_is_given_up_ends_its_process(tmp_path: Path) -> None:
    path = book(tmp_path, "one", "hang", "three")
    pages = hsd_docparse.iter_pages(path, mode="draft")
    process = int(next(pages).regions[0].text.split()[1])
    pages.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_process_that_died_while_idle_is_not_asked(tmp_path: Path) -> None:
    path = book(tmp_path, "one")
    ((_, process),) = read(path)
    os.kill(int(process), 9)
    assert read(path)[0][0] == "one"


def test_relative_paths_begin_where_the_caller_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        book(tmp_path / name, name)
    for name in ("a", "b"):
        monkeypatch.chdir(tmp_path / name)
        assert read(Path("book.pdf"))[0][0] == name


def test_modules_beside_the_documents_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logging.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert read(book(tmp_path, "one"))[0][0] == "one"


def test_a_process_that_dies_after_the_last_page_costs_nothing(tmp_path: Path) -> None:
    pages = hsd_docparse.iter_pages(book(tmp_path, "one"), mode="draft")
    process = int(next(pages).regions[0].text.split()[1])
    os.kill(process, 9)
    assert list(pages) == []


def test_passwords_and_their_errors_travel(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "secret")
        document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="key", owner_pw="own")
    with pytest.raises(PasswordError, match="give its password with --password"):
        read(path)
    assert read(path, password="key")[0][0] == "secret"


def test_a_file_that_cannot_be_opened_in_time_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = "import time; time.sleep(100)"
    monkeypatch.setattr(isolation, "PROGRAM", hangs)
    monkeypatch.setattr(isolation, "_STARTING", 0.0)
    path = book(tmp_path, "one")
    with pytest.raises(InputError, match=r"took longer than 0.5 s while it was opened"):
        read(path, deadline=0.5)


def test_readers_end_with_the_program(tmp_path: Path) -> None:
    path = book(tmp_path, "one")
    program = textwrap.dedent(f"""
        import sys
        import hsd_docparse
        from hsd_docparse import isolation
        isolation.PROGRAM = {READER!r}
        (page,) = hsd_docparse.iter_pages({str(path)!r}, mode="draft")
        print(page.regions[0].text.split()[1])
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    process = int(done.stdout)
    for _ in range(50):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the reader is still there")


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import hsd_docparse\n"
        f"document = hsd_docparse.parse({str(book(tmp_path, 'one'))!r}, mode='draft')\n"
        "print(document.pages[0].regions[0].text)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "one\n"
