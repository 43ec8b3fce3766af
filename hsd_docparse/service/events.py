"""A job as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
from sse_starlette import ServerSentEvent

from hsd_docparse.jobs import ENDED, Job, State
from hsd_docparse.service.answers import PageEvent, status_of

PERIOD = 0.2
"""Seconds between two looks at a job; a thread that waits for news would be one a client."""
LAST = "end"
"""The id of the last event; that of a page is how many came before, and itself."""

SCHEMA = {
    "type": "object",
    "properties": {
        "event": {"enum": ["state", "page"]},
        "id": {"type": "string"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "anyOf": [
                    {"$ref": "#/components/schemas/JobStatus"},
                    PageEvent.model_json_schema(),
                ]
            },
        },
    },
    "required": ["event", "data"],
}
"""What OpenAPI says of an event."""


def pages_told(last_event_id: str) -> int:
    """How many pages a client knows that received ``last_event_id``; 0 for what is no id."""
    return int(last_event_id[:9]) if last_event_id.isdecimal() else 0


async def events_of(job: Job, told: int, stop: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    """The state whenever it changes, and each page but the first ``told``, until the job has ended
    or ``stop`` is set."""
    shown: State | None = None
    while not stop.is_set():
        state = job.state  # looked at first: after its end it gets no more pages
        if state != shown and state not in ENDED:
            shown = state
            yield ServerSentEvent(status_of(job).model_dump_json(), event="state")
        for number, page in enumerate(job.pages[told:], told + 1):
            told = number
            event = PageEvent(
                page=page.number,
                error=page.error,
                pages_done=number,
                pages_total=job.total,
                seconds_left=job.seconds_left,
            )
            yield ServerSentEvent(event.model_dump_json(), event="page", id=str(number))
        if state in ENDED:
            yield ServerSentEvent(status_of(job).model_dump_json(), event="state", id=LAST)
            return
        await anyio.sleep(PERIOD)
