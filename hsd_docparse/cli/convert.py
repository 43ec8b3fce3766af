"""``docparse FILE``: converts files."""

from __future__ import annotations

import logging
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hsd_docparse import __version__
from hsd_docparse.convert import DEADLINE, DPI, Conversion, PageRead, Settings, open_conversion
from hsd_docparse.document import Page
from hsd_docparse.errors import DocparseError, InputError
from hsd_docparse.export import Outputs, export, exporting, output_names
from hsd_docparse.render import FORMATS

CONVERTED, FILE_FAILED, USAGE, PAGE_FAILED = 0, 1, 2, 3

MOST_WARNINGS = 10

EPILOG = (
    "Exit codes: 0, all files were converted; 1, at least one file could not be; 2, the command "
    "is wrong; 3, all files were converted, but at least one page could not be read and is "
    "marked so. Other commands: docparse ui, a page to upload to in the browser; docparse serve, "
    "the same for programs. A file named like a command is ./ui."
)


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Mode(str, Enum):
    draft = "draft"
    lossless = "lossless"


@dataclass(frozen=True)
class Options:
    """What the command line asks for, the same for each of its files; without ``folder`` the
    result goes to standard output."""

    folder: Path | None
    settings: Settings
    outputs: Outputs
    debug: bool


@dataclass
class Tally:
    """What became of a file's pages. ``errors`` and ``warnings``: text -> pages it is about."""

    pages: int = 0
    tokens: int = 0
    page_calls: int = 0
    region_calls: int = 0
    errors: dict[str, list[int]] = field(default_factory=dict)
    warnings: dict[str, list[int]] = field(default_factory=dict)

    def add(self, page: Page) -> None:
        self.pages += 1
        if page.error:
            self.errors.setdefault(page.error, []).append(page.number)
        for warning in page.warnings:
            self.warnings.setdefault(warning, []).append(page.number)
        if page.speculation:
            self.tokens += page.speculation.tokens
            self.page_calls += page.speculation.page_calls
            self.region_calls += page.speculation.region_calls

    @property
    def failed(self) -> int:
        return sum(map(len, self.errors.values()))


def _print_version(asked: bool) -> None:
    if asked:
        print(f"docparse {__version__}")
        raise typer.Exit


@app.command(epilog=EPILOG)
def docparse(
    files: Annotated[list[Path], typer.Argument(help="PDFs and images.", metavar="FILE")],
    output: Annotated[
        Optional[Path],  # noqa: UP045  (typer evaluates it, on Python 3.10 too)
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Where results go, as NAME.md and so on; without it, or with -, the result of "
            "one file goes to standard output.",
        ),
    ] = None,
    formats: Annotated[
        str,
        typer.Option("-f", "--format", metavar="LIST", help=f"Any of {','.join(FORMATS)}."),
    ] = "md",
    pages: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="RANGES", help="Pages to read, such as 1-3,7 or 5-; all by default."),
    ] = None,
    password: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="PW", help="Opens encrypted documents.", envvar="DOCPARSE_PASSWORD"),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What verifies the draft: mini, none, a Hugging Face hub id or a model folder.",
        ),
    ] = "mini",
    mode: Annotated[
        Mode,
        typer.Option(help="draft: layout pipeline alone; lossless: exactly what the target reads."),
    ] = Mode.lossless,
    dpi: Annotated[
        float,
        typer.Option(
            metavar="N", min=36, max=600, help="Resolution at which pages are looked at, 36 to 600."
        ),
    ] = DPI,
    deadline: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Longest time that drafting a page may take; 0: no limit, no separate process.",
        ),
    ] = DEADLINE,
    figures: Annotated[
        bool, typer.Option("--figures", help="Save figures to NAME.figures/ and link them.")
    ] = False,
    debug_layout: Annotated[
        bool, typer.Option("--debug-layout", help="Save a picture of each page's regions.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where errors come from.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Turn PDFs, scans and photos into Markdown, HTML, JSON or text."""
    to_stdout = output is None or str(output) == "-"
    chosen = list(dict.fromkeys(name.strip().lower() for name in formats.split(",")))
    for name in chosen:
        if name not in FORMATS:
            _refuse(f"There is no format {name!r}; choose from {', '.join(FORMATS)}.")
    if to_stdout and (len(files) > 1 or len(chosen) > 1):
        _refuse("Several files or formats need a folder to go to: add -o FOLDER.")
    if to_stdout and FORMATS[chosen[0]].binary:
        _refuse(f"{chosen[0]} is written to a file and not to standard output: add -o FOLDER.")
    if to_stdout and (figures or debug_layout):
        _refuse("--figures and --debug-layout save pictures: add -o FOLDER.")
    options = Options(
        None if to_stdout else output,
        Settings(target, mode.value, pages, password, dpi, deadline or None),
        Outputs(chosen, figures, debug_layout),
        debug,
    )
    if options.folder:
        _make_folder(options.folder)
    if debug:
        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("hsd_docparse").setLevel(logging.DEBUG)
    else:
        warnings.simplefilter("ignore")  # libraries warn their callers, not who runs a command
    raise typer.Exit(run(files, options))


def run(files: list[Path], options: Options) -> int:
    """Convert ``files`` one after the other; returns the exit code."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    code = CONVERTED
    for path, name in zip(files, output_names(files), strict=True):
        try:
            tally = _convert(path, name, options, console)
        except BrokenPipeError:
            raise
        except Exception as error:  # one file must not cost the others
            code = FILE_FAILED
            console.print(_sentence(path, error))
            if options.debug:
                console.print(traceback.format_exc())
        else:
            if tally.failed and code == CONVERTED:
                code = PAGE_FAILED
    return code


def _convert(path: Path, name: str, options: Options, console: Console) -> Tally:
    """Convert one file, say what went wrong on which page, and sum up for a terminal."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the files in it.")
    began = time.perf_counter()
    tally = Tally()
    with (
        _exporting(path, name, options) as (conversion, reads),
        _progress(console, path, conversion) as advance,
    ):
        for read in reads:
            tally.add(read.page)
            advance()
    for line in remarks(path, tally):
        console.print(line)
    if console.is_terminal:
        console.print(summary(path, conversion, tally, time.perf_counter() - began))
    return tally


@contextmanager
def _exporting(
    path: Path, name: str, options: Options
) -> Iterator[tuple[Conversion, Iterator[PageRead]]]:
    if options.folder:
        with exporting(path, options.folder / name, options.settings, options.outputs) as exported:
            yield exported
    else:
        with open_conversion(path, options.settings) as conversion:
            stream = typer.get_text_stream("stdout", encoding="utf-8", errors="replace")
            yield conversion, export(conversion, {options.outputs.formats[0]: stream})
            stream.flush()


@contextmanager
def _progress(console: Console, path: Path, conversion: Conversion) -> Iterator[Callable[[], None]]:
    """A bar that the yielded function moves on by one page; nothing where nobody looks."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("pages"),
        TimeRemainingColumn(),
    )
    unseen = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=unseen) as bar:
        task = bar.add_task(escape(path.name), total=conversion.selected)
        yield lambda: bar.advance(task)


def summary(path: Path, conversion: Conversion, tally: Tally, seconds: float) -> str:
    """One line: pages, seconds, how they were read and what speculation gained."""
    document = conversion.document
    count = f"{tally.pages} page{'s' * (tally.pages != 1)}"
    line = f"{path}: {count} in {seconds:.1f} s, {document.mode}"
    calls = tally.page_calls + tally.region_calls
    if calls:
        line += f" with {document.target}, {calls} target calls"
    if tally.page_calls:
        line += f", {tally.tokens / tally.page_calls:.1f} tokens a call on the page"
    return line + (f", {tally.failed} could not be read" if tally.failed else "")


def remarks(path: Path, tally: Tally) -> Iterator[str]:
    """Every page that failed, and the first few warnings."""
    for error, numbers in tally.errors.items():
        yield error if str(path) in error else f"{path}, page {ranges(numbers)}: {error}"
    for warning, numbers in islice(tally.warnings.items(), MOST_WARNINGS):
        yield f"{path}, page {ranges(numbers)}: {warning}"
    if (rest := len(tally.warnings) - MOST_WARNINGS) > 0:
        yield f"{path}: {rest} more warnings; -f json lists them all."


def ranges(numbers: list[int]) -> str:
    """Ascending page numbers as people write them: ``1-3, 7``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)


def _sentence(path: Path, error: Exception) -> str:
    if isinstance(error, DocparseError):
        message = str(error)
        return message if str(path) in message else f"{path}: {message}"
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}."
    kind = type(error).__name__
    return f"{path} could not be converted: unexpected {kind} ({error}); --debug shows where."


def _refuse(message: str) -> None:
    print(f"docparse: {message}", file=sys.stderr)
    raise typer.Exit(USAGE)


def _make_folder(folder: Path) -> None:
    endings = {Path(f"x{form.suffix}").suffix for form in FORMATS.values() if not form.binary}
    if folder.suffix in endings and not folder.is_dir():
        _refuse(f"-o names a folder; to write one file use: docparse FILE > {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _refuse(f"The folder {folder} cannot be made: {error.strerror}.")
