"""``docparse FILE``: converts files."""

from __future__ import annotations

import logging
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hsd_docparse import __version__
from hsd_docparse.batch import Job
from hsd_docparse.cli.command import command, refuse
from hsd_docparse.cli.folder import Crew, job_folders, run_folders
from hsd_docparse.cli.tally import (
    CONVERTED,
    FILE_FAILED,
    PAGE_FAILED,
    Tally,
    remarks,
    summary,
    worst,
)
from hsd_docparse.convert import (
    DEADLINE,
    DPI,
    Conversion,
    Mode,
    PageRead,
    Settings,
    open_conversion,
)
from hsd_docparse.errors import InputError, sentence
from hsd_docparse.export import Outputs, export, exporting, output_names
from hsd_docparse.render import FORMATS
from hsd_docparse.sources.page_ranges import read_page_ranges

EPILOG = (
    "Exit codes: 0, all files were converted; 1, at least one file could not be; 2, the command "
    "is wrong; 3, all files were converted, but at least one page could not be read and is "
    "marked so. Other commands: docparse ui, a page to upload to in the browser; docparse serve, "
    "the same for programs. A file named like a command is ./ui."
)

app = command()


@dataclass(frozen=True)
class Options:
    """What the command line asks for, the same for each of its files; without ``folder`` the
    result goes to standard output."""

    folder: Path | None
    settings: Settings
    outputs: Outputs
    debug: bool


def _print_version(asked: bool) -> None:
    if asked:
        print(f"docparse {__version__}")
        raise typer.Exit


@app.command(epilog=EPILOG)
def docparse(
    files: Annotated[
        list[Path], typer.Argument(help="PDFs, images, and folders of them.", metavar="FILE")
    ],
    output: Annotated[
        Optional[Path],  # noqa: UP045  (typer evaluates it, on Python 3.10 too)
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Where results go, as NAME.md and so on, a folder's with its tree; without it, or "
            "with -, the result of one file goes to standard output.",
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
        typer.Option(
            help="draft: layout pipeline alone; lossless: exactly what the target reads; near: the "
            "draft's token where the target likes it nearly as well as its own; ensemble: what "
            "both together think best."
        ),
    ] = "lossless",
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
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite files that were there before a folder's results."),
    ] = False,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Processes that convert the files of a folder.")
    ] = 1,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Go on converting what appears in a folder, until Ctrl-C."),
    ] = False,
    ray: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="ADDRESS",
            help="Have N actors of a Ray cluster convert the files of a folder; local: a cluster "
            "of this machine alone.",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show where errors come from.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Turn PDFs, scans and photos into Markdown, HTML, JSON or text."""
    if pages is not None:
        try:
            read_page_ranges(pages)
        except InputError as error:
            refuse(str(error))
    to_stdout = output is None or str(output) == "-"
    chosen = list(dict.fromkeys(name.strip().lower() for name in formats.split(",")))
    for name in chosen:
        if name not in FORMATS:
            refuse(f"There is no format {name!r}; choose from {', '.join(FORMATS)}.")
    if to_stdout and (len(files) > 1 or len(chosen) > 1):
        refuse("Several files or formats need a folder to go to: add -o FOLDER.")
    if to_stdout and FORMATS[chosen[0]].binary:
        refuse(f"{chosen[0]} is written to a file and not to standard output: add -o FOLDER.")
    if to_stdout and (figures or debug_layout):
        refuse("--figures and --debug-layout save pictures: add -o FOLDER.")
    folders = [path for path in files if path.is_dir()]
    if to_stdout and folders:
        refuse(f"{folders[0]} is a folder, whose results need one to go to: add -o FOLDER.")
    crew = Crew(workers, ray, watch)
    if crew != Crew() and not folders:
        refuse("--workers, --watch and --ray are for folders; name one.")
    if any(output and output.resolve() == folder.resolve() for folder in folders):
        refuse("-o names the folder that is read; name another one.")
    if watch and len(files) > 1:
        refuse("--watch takes one folder, and nothing beside it.")
    options = Options(
        None if to_stdout else output,
        Settings(target, mode, pages, password, dpi, deadline or None),
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
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    code = run([path for path in files if path not in folders], options, console)
    if folders and options.folder:
        jobs = [
            Job(folder, out, options.settings, options.outputs, force, debug)
            for folder, out in job_folders(files, options.folder)
        ]
        code = worst(code, run_folders(jobs, crew, console))
    raise typer.Exit(code)


def run(files: list[Path], options: Options, console: Console) -> int:
    """Convert ``files`` one after the other; returns the exit code."""
    code = CONVERTED
    for path, name in zip(files, output_names(files), strict=True):
        try:
            tally = _convert(path, name, options, console)
        except BrokenPipeError:
            raise
        except Exception as error:  # one file must not cost the others
            code = worst(code, FILE_FAILED)
            console.print(sentence(path, error))
            if options.debug:
                console.print(traceback.format_exc())
        else:
            if tally.failed:
                code = worst(code, PAGE_FAILED)
    return code


def _convert(path: Path, name: str, options: Options, console: Console) -> Tally:
    """Convert one file, say what went wrong on which page, and sum up for a terminal."""
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


def _make_folder(folder: Path) -> None:
    endings = {Path(f"x{form.suffix}").suffix for form in FORMATS.values() if not form.binary}
    if folder.suffix in endings and not folder.is_dir():
        refuse(f"-o names a folder; to write one file use: docparse FILE > {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"The folder {folder} cannot be made: {error.strerror}.")
