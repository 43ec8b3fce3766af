"""Which files of a folder are documents, and what their outputs are called."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from hsd_docparse.export import output_names
from hsd_docparse.sources import HEAD, content_type
from hsd_docparse.state import FILE, Signature

REPORT = "report.json"


@dataclass(frozen=True)
class Found:
    """A document. ``path``, below the folder, and ``name``, that of its output below OUT without
    suffix, have slashes on every system."""

    path: str
    name: str
    signature: Signature


@dataclass
class Look:
    """The documents by path, sorted by folder and name. ``skipped`` counts files that are none;
    ``unreadable`` says in a sentence each what could not be looked at."""

    found: dict[str, Found] = field(default_factory=dict)
    skipped: int = 0
    unreadable: list[str] = field(default_factory=list)


class Tree:
    """A folder that is looked at again and again. Hidden files, links that lead back up, ``out``
    and every other folder that a folder job wrote to are passed over. ``suffixes`` are those of the
    outputs, figures' folders included: no name with one of them is that of a folder."""

    def __init__(self, folder: Path, out: Path, suffixes: Sequence[str]) -> None:
        self._folder = folder
        self._place = folder.resolve()
        self._out = out.resolve()
        self._suffixes = suffixes
        self._known: dict[str, tuple[Signature, bool]] = {}

    def look(self) -> Look:
        look = Look()
        known, self._known = self._known, {}
        self._visit(self._folder, PurePosixPath(), frozenset(), known, look)
        return look

    def _visit(
        self,
        folder: Path,
        below: PurePosixPath,
        above: frozenset[tuple[int, int]],
        known: dict[str, tuple[Signature, bool]],
        look: Look,
    ) -> None:
        try:
            status = folder.stat()
            with os.scandir(folder) as entries:
                visible = sorted(
                    (entry for entry in entries if not entry.name.startswith(".")),
                    key=lambda entry: entry.name,
                )
        except OSError as error:
            look.unreadable.append(f"{folder} cannot be read: {error.strerror}.")
            return
        above |= {(status.st_dev, status.st_ino)}
        documents: dict[str, Signature] = {}
        folders = []
        for entry in visible:
            path = folder / entry.name
            try:
                status = entry.stat()
                if entry.is_dir():
                    if self._out / below / entry.name == self._place:
                        look.unreadable.append(
                            f"{path} is left out: its results would go into {self._folder}, which "
                            "is read; name another folder with -o."
                        )
                    elif (status.st_dev, status.st_ino) not in above and not self._is_output(path):
                        folders.append(entry.name)
                elif not entry.is_file():
                    look.skipped += 1
                else:
                    signature = Signature(status.st_size, status.st_mtime_ns)
                    key = str(below / entry.name)
                    key.encode()  # the state holds text
                    is_document = _is_document(path, signature, known.get(key))
                    self._known[key] = signature, is_document
                    if is_document:
                        documents[entry.name] = signature
                    else:
                        look.skipped += 1
            except FileNotFoundError:
                look.skipped += 1  # a link that leads nowhere, or a file that has just gone
            except OSError as error:
                look.unreadable.append(f"{path} cannot be read: {error.strerror}.")
            except UnicodeEncodeError:
                look.unreadable.append(f"{path!r} has a name that is not UTF-8; rename it.")
        names = output_names([Path(name) for name in documents], self._reserved(below, folders))
        for (file, signature), name in zip(documents.items(), names, strict=True):
            found = Found(str(below / file), str(below / name), signature)
            look.found[found.path] = found
        for name in folders:
            self._visit(folder / name, below / name, above, known, look)

    def _is_output(self, folder: Path) -> bool:
        return (folder / FILE).exists() or folder.resolve() == self._out

    def _reserved(self, below: PurePosixPath, folders: Sequence[str]) -> Iterator[str]:
        """Names with which an output would be called like the output of one of ``folders``, or
        like the report."""
        others = folders if below.parts else [*folders, REPORT]
        for other in others:
            for suffix in self._suffixes:
                if other.endswith(suffix):
                    yield other.removesuffix(suffix)


def _is_document(path: Path, signature: Signature, known: tuple[Signature, bool] | None) -> bool:
    if known and known[0] == signature:
        return known[1]
    with path.open("rb") as file:
        return content_type(file.read(HEAD)) is not None
