"""Writes a conversion to files, each page as soon as it is read."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from hsd_docparse.convert import Conversion, PageRead, Settings, open_conversion
from hsd_docparse.render import FORMATS


@dataclass(frozen=True)
class Outputs:
    """What is written of a file: ``formats`` (names in `FORMATS`), ``figures`` as pictures that
    are linked, ``layouts`` as pictures of each page's regions."""

    formats: Sequence[str] = ("md",)
    figures: bool = False
    layouts: bool = False

    @property
    def pictures(self) -> bool:
        """Whether the pictures of pages are needed for it."""
        return self.figures or self.layouts


def output_names(paths: Sequence[Path], reserved: Iterable[str] = ()) -> list[str]:
    """A name without suffix for each of ``paths``, no two alike on any file system, and none of
    ``reserved``.

    It is the stem of the file; where that is taken the whole name, then the name with a
    number: ``a.pdf, a.png, b/a.png`` give ``a, a.png, a.png-2``.
    """
    taken = {name.casefold() for name in reserved}
    names = []
    for path in paths:
        candidates = chain([path.stem, path.name], map(f"{path.name}-{{}}".format, count(2)))
        name = next(name for name in candidates if name.casefold() not in taken)
        taken.add(name.casefold())
        names.append(name)
    return names


def output_path(base: Path, format: str) -> Path:
    return base.with_name(base.name + FORMATS[format].suffix)


def output_paths(base: Path, formats: Sequence[str]) -> dict[str, Path]:
    """The file of each format: ``base`` with the format's suffix."""
    return {name: output_path(base, name) for name in formats}


@contextmanager
def output_files(base: Path, formats: Sequence[str]) -> Iterator[dict[str, IO[Any]]]:
    """A file a format, open for what its writers write, named ``base`` with the format's suffix.

    They are written under the name with ``.part`` and appear when all is done; when an
    exception ends the block, nothing stays and earlier files are as they were.
    """
    finals = output_paths(base, formats)
    parts = {name: path.with_name(path.name + ".part") for name, path in finals.items()}
    try:
        with ExitStack() as stack:
            yield {
                name: stack.enter_context(
                    part.open("w+b")
                    if FORMATS[name].binary
                    else part.open("w", encoding="utf-8", errors="replace", newline="\n")
                )
                for name, part in parts.items()
            }
        for name, part in parts.items():
            os.replace(part, finals[name])
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


@contextmanager
def exporting(
    path: Path, base: Path, settings: Settings, outputs: Outputs, *, pictures: bool = False
) -> Iterator[tuple[Conversion, Iterator[PageRead]]]:
    """Convert ``path`` to files named ``base`` with the suffix of each format, and yield each page
    once it is written. The files appear at the end of the block, see `output_files`; errors are
    those of `hsd_docparse.parse` and `OSError`."""
    with (
        open_conversion(path, settings, pictures=pictures or outputs.pictures) as conversion,
        output_files(base, outputs.formats) as streams,
    ):
        yield (
            conversion,
            export(
                conversion,
                streams,
                figures=base.with_name(f"{base.name}.figures") if outputs.figures else None,
                layouts=base if outputs.layouts else None,
            ),
        )


def export(
    conversion: Conversion,
    streams: Mapping[str, IO[Any]],
    *,
    figures: Path | None = None,
    layouts: Path | None = None,
) -> Iterator[PageRead]:
    """Write ``conversion`` to one stream a format, and yield each page once it is written.

    With ``figures``, a folder beside the streams' files, figures are saved there and linked, or
    put into formats that are whole in one file;
    with ``layouts``, a path without suffix, a picture of each page's regions is saved as
    ``layouts.page-N.layout.png``. Both need a conversion with pictures.
    """
    writers = {
        name: FORMATS[name].writer(stream, conversion.document, password=conversion.password)
        for name, stream in streams.items()
    }
    for read in conversion.reads:
        saved = _save_figures(read, figures) if figures else {}
        if layouts:
            _save_layout(read, layouts)
        for name, writer in writers.items():
            link = _data_url if FORMATS[name].embeds else _relative_url
            writer.write(read.page, {index: link(path) for index, path in saved.items()})
        yield read
    for writer in writers.values():
        writer.finish()


def _save_figures(read: PageRead, folder: Path) -> dict[int, Path]:
    from hsd_docparse.render.figures import save_figures

    page, picture = read
    if picture is None or not any(region.kind == "figure" for region in page.regions):
        return {}
    return save_figures(picture, page, folder)


def _relative_url(figure: Path) -> str:
    return quote(f"{figure.parent.name}/{figure.name}")


def _data_url(figure: Path) -> str:
    return f"data:image/png;base64,{b64encode(figure.read_bytes()).decode()}"


def _save_layout(read: PageRead, base: Path) -> None:
    from hsd_docparse.draft import draw_layout

    page, picture = read
    if picture is None or page.error:
        return
    drawn = draw_layout(picture, page)
    drawn.save(base.with_name(f"{base.name}.page-{page.number}.layout.png"))
