"""What the service answers, other than files."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from hsd_docparse.convert import Mode
from hsd_docparse.jobs import Job, State

FAILURES = {
    400: "The request is malformed.",
    401: "The user or the password is wrong.",
    403: "The request comes from a page of another site.",
    404: "There is no such job or result; it may have been removed.",
    408: "The upload stalled.",
    409: "The job is not done.",
    413: "The upload is too large.",
    422: "A field has a value that is not taken.",
    429: "Too many documents are waiting.",
    507: "There is no more room for results.",
}


class Failure(BaseModel):
    """What went wrong, in a sentence."""

    error: str


def failures(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Descriptions for OpenAPI."""
    return {code: {"model": Failure, "description": FAILURES[code]} for code in codes}


class FailedPage(BaseModel):
    """A page that could not be read, and why."""

    page: int
    error: str


class JobStatus(BaseModel):
    """A job. Times are in seconds; ``results`` has a link for each format once the job is done."""

    id: str
    name: str
    state: State
    pages_done: int
    pages_total: int | None
    seconds: float
    seconds_left: float | None
    error: str | None
    failed_pages: list[FailedPage]
    url: str
    events: str
    results: dict[str, str]
    archive: str | None


def status_of(job: Job) -> JobStatus:
    url = f"/jobs/{job.id}"
    done = job.state == "done"
    return JobStatus(
        id=job.id,
        name=job.name,
        state=job.state,
        pages_done=len(job.pages),
        pages_total=job.total,
        seconds=job.seconds,
        seconds_left=job.seconds_left,
        error=job.error,
        failed_pages=[
            FailedPage(page=page.number, error=page.error) for page in job.pages if page.error
        ],
        url=url,
        events=f"{url}/events",
        results={name: f"{url}/result.{name}" for name in job.outputs.formats} if done else {},
        archive=f"{url}/archive" if done else None,
    )


class PageEvent(BaseModel):
    """A page that was read; ``error`` says why it could not be."""

    page: int
    error: str | None
    pages_done: int
    pages_total: int | None
    seconds_left: float | None


class Health(BaseModel):
    status: str


class Version(BaseModel):
    """What this server is and takes: at most ``max_bytes`` of a file and ``max_pages`` of a
    document; ``target`` and ``mode`` are used where nothing else is asked for."""

    version: str
    formats: list[str]
    target: str
    mode: Mode
    max_bytes: int
    max_pages: int
