"""The code in the documentation runs as it is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hsd_docparse.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "models" / "README.md"]


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.name)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page one after the other, as a reader would type them."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)


def commands(page: Path) -> list[str]:
    """Lines of shell blocks that convert files; blocks behind ``<!-- not run: why -->`` and servers
    are left out."""
    block = r"^(<!-- not run: [^\n]*-->\n)?```sh\n(.*?)^```"
    found = re.findall(block, page.read_text("utf-8"), re.M | re.S)
    lines = [line for mark, lines in found if not mark for line in lines.splitlines()]
    converts = re.compile(rf"docparse (?!(?:{'|'.join(COMMANDS)})\b)")
    return [line for line in lines if converts.match(line)]


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if p.parent.name == "docs" and commands(p)],
    ids=lambda page: page.name,
)
def test_shell_blocks_run(page: Path, tmp_path: Path) -> None:
    """The commands of a page one after the other in a copy of the samples; drafts are quick."""
    folder = tmp_path / "samples"
    shutil.copytree(ROOT / "samples", folder)
    for command in commands(page):
        typed = command.replace("docparse", f"{sys.executable} -m hsd_docparse --mode draft", 1)
        run = subprocess.run(
            typed,
            shell=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_table_of_faults_is_complete() -> None:
    """Every fault that the tests inject is in the table, with the checks that find it."""
    from distribution import FOUND_BY as OF_SAMPLING
    from test_mutations import FOUND_BY as OF_GREEDY

    table = (ROOT / "docs" / "faults.md").read_text("utf-8")
    rows = re.findall(r"^\| ([GSDV]) \| (\w+) \|[^|]*\| ([^|]*) \|$", table, re.M)
    greedy = {name: set(checks.split(", ")) for kind, name, checks in rows if kind == "G"}
    assert greedy == {
        fault.__name__: {check.__name__ for check in checks} for fault, checks in OF_GREEDY.items()
    }
    assert {name for kind, name, _ in rows if kind == "S"} == set(OF_SAMPLING)
    sources = "".join(p.read_text("utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    for _, name, checks in rows:
        assert f"def {name}(" in sources or name in OF_SAMPLING, name
        for check in re.findall(r"\btest_\w+", checks):
            assert f"def {check}(" in sources, check


def test_files_and_tests_of_the_table_of_systems_exist() -> None:
    table = (ROOT / "docs" / "systems.md").read_text("utf-8")
    sources = "".join(p.read_text("utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    places = [ROOT, ROOT / "hsd_docparse", ROOT / "hsd_docparse/speculative", ROOT / "tests"]
    places += [ROOT / "tests" / "speculative"]
    for named in re.findall(r"`([\w/]+\.py)", table):
        assert any((place / named).exists() for place in places), named
    for test in re.findall(r"::(test_\w+)`", table):
        assert f"def {test}(" in sources, test
    for test in re.findall(r"::(test_\w+)…`", table):
        assert f"def {test}" in sources, test
