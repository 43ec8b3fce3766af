"""The calls of the service. Those that wait for a disk are plain functions, which FastAPI runs in
threads; the others are coroutines."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.responses import FileResponse
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from hsd_docparse import __version__
from hsd_docparse.convert import Settings
from hsd_docparse.jobs import Job, Jobs
from hsd_docparse.render import FORMATS
from hsd_docparse.service.answers import FAILURES, Health, JobStatus, Version, failures, status_of
from hsd_docparse.service.events import LAST, PERIOD, SCHEMA, events_of, pages_told
from hsd_docparse.service.files import archive_of, media_type, result_of
from hsd_docparse.service.upload import read_fields, receiving, target_name

PING = 15
"""Seconds after which a silent stream of events says that it is alive."""
RESULT_TYPES = sorted({media_type(form.suffix) for form in FORMATS.values()})

router = APIRouter(responses=failures(422))


def _jobs(request: Request) -> Jobs:
    return request.app.state.jobs


def _defaults(request: Request) -> Settings:
    return request.app.state.defaults


async def _find(request: Request, id: str) -> Job:
    try:
        return _jobs(request).job(id)
    except KeyError:
        raise HTTPException(404, FAILURES[404]) from None


Found = Annotated[Job, Depends(_find)]


async def submit(request: Request, response: Response) -> JobStatus:
    """Upload a document to be converted."""
    jobs = _jobs(request)
    async with receiving(request, jobs) as form:
        file, fields = read_fields(form, request.app.state.fields)
        job = await run_in_threadpool(
            jobs.submit,
            file.filename or "",
            file.file,
            fields.settings(_defaults(request)),
            fields.outputs,
        )
    status = status_of(job)
    response.headers["Location"] = status.url
    return status


@router.get("/jobs/{id}", responses=failures(404))
async def status(job: Found) -> JobStatus:
    """How far a job is."""
    return status_of(job)


@router.delete("/jobs/{id}", status_code=204, responses=failures(404))
def remove(request: Request, job: Found) -> None:
    """Cancel a job and delete all of it."""
    try:
        _jobs(request).remove(job.id)
    except KeyError:  # by somebody else meanwhile
        raise HTTPException(404, FAILURES[404]) from None


@router.get(
    "/jobs/{id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {
            "description": "Events `page` and `state`, until the job has ended.",
            "content": {"text/event-stream": {"schema": SCHEMA}},
        },
        204: {"description": "The last event was received before; there will be no more."},
        **failures(404),
    },
)
async def events(job: Found, last_event_id: Annotated[str, Header()] = "") -> Response:
    """Follow a job: server-sent events."""
    if last_event_id == LAST:
        return Response(status_code=204)  # has a browser stop asking again
    stop = anyio.Event()  # set when the server is stopped
    return EventSourceResponse(
        events_of(job, pages_told(last_event_id), stop),
        ping=PING,
        shutdown_event=stop,
        shutdown_grace_period=2 * PERIOD,
    )


@router.get(
    "/jobs/{id}/result.{format}",
    response_class=FileResponse,
    responses={
        200: {"description": "A file.", "content": {kind: {} for kind in RESULT_TYPES}},
        **failures(404, 409),
    },
)
def result(job: Found, format: str) -> FileResponse:
    """The document in one of the formats that were asked for."""
    return result_of(job, format)


@router.get(
    "/jobs/{id}/archive",
    response_class=FileResponse,
    responses={
        200: {"description": "A zip file.", "content": {"application/zip": {}}},
        **failures(404, 409, 507),
    },
)
def zipped(request: Request, job: Found) -> FileResponse:
    """All results and figures of a job in one zip file."""
    return archive_of(job, _jobs(request))


@router.get("/version")
async def version(request: Request) -> Version:
    """What this server is and takes."""
    limits, defaults = _jobs(request).limits, _defaults(request)
    return Version(
        version=__version__,
        formats=list(FORMATS),
        target=target_name(defaults),
        mode=defaults.mode,
        max_bytes=limits.bytes,
        max_pages=limits.pages,
    )


async def health() -> Health:
    """Whether the server answers."""
    return Health(status="ok")
