"""Results as files that a browser may open without harm."""

from __future__ import annotations

from mimetypes import MimeTypes
from pathlib import Path

from fastapi import HTTPException
from fastapi.responses import FileResponse

from hsd_docparse.jobs import Job, Jobs, archive
from hsd_docparse.service.answers import FAILURES

PASSIVE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What stands in a document must not act in the name of the server."""

_TYPES = MimeTypes()  # without those of the system, which differ from machine to machine
_TYPES.add_type("text/markdown", ".md")


def media_type(suffix: str) -> str:
    return _TYPES.guess_type(f"file{suffix}")[0] or "application/octet-stream"


def result_of(job: Job, format: str) -> FileResponse:
    """Raises `HTTPException` where it was not asked for, or is not there yet or any more."""
    if format not in job.outputs.formats:
        raise HTTPException(404, FAILURES[404])
    _require_done(job)
    return _file(job.output(format), inline=format == "html")


def archive_of(job: Job, jobs: Jobs) -> FileResponse:
    """A zip file of all outputs, made when it is first asked for. Raises `HTTPException` where
    there are none yet or any more, `FullError` where there is no room for it."""
    _require_done(job)
    path = job.folder / f"{job.base.name}.zip"
    try:
        with jobs.writing(job):
            if not path.exists():
                jobs.require_room()
                part = path.with_name("archive.part")
                archive([job], part)
                part.replace(path)
    except FileNotFoundError:  # removed meanwhile
        raise HTTPException(404, FAILURES[404]) from None
    return _file(path)


def _require_done(job: Job) -> None:
    if job.state != "done":
        raise HTTPException(409, f"The job is {job.state}: it has no result.")


def _file(path: Path, *, inline: bool = False) -> FileResponse:
    try:
        found = path.stat()
    except FileNotFoundError:  # removed meanwhile
        raise HTTPException(404, FAILURES[404]) from None
    return FileResponse(
        path,
        headers=PASSIVE,
        media_type=media_type(path.suffix),
        filename=path.name,
        stat_result=found,
        content_disposition_type="inline" if inline else "attachment",
    )
