"""How far the documents of a visitor are, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hsd_docparse.jobs import Job
from hsd_docparse.wording import counted


def progress(jobs: Sequence[Job]) -> str:
    if not jobs:
        return ""
    return f'<div class="jobs" role="status">{"".join(map(_job, jobs))}</div>'


def _job(job: Job) -> str:
    bar = (
        f'<progress max="{job.total or 1}" value="{len(job.pages)}" '
        f'aria-label="{escape(job.name)}"></progress>'
    )
    ended = job.state in ("failed", "cancelled")
    return (
        f'<div class="job {job.state}"><span class="name">{escape(job.name)}</span>'
        f"<span>{escape(describe(job))}</span>{'' if ended else bar}</div>"
    )


def describe(job: Job) -> str:
    """In words: where ``job`` stands, and what became of it."""
    read = len(job.pages)
    if job.state == "waiting":
        return "waits its turn"
    if job.state == "failed":
        return job.error or "failed"
    if job.state == "cancelled":
        return f"cancelled after {counted(read, 'page')}"
    if job.state == "done":
        failed = sum(page.error is not None for page in job.pages)
        lost = f", {failed} could not be read" if failed else ""
        return f"{counted(read, 'page')} in {job.seconds:.1f} s{lost}"
    if job.total is None:
        return "is being opened"
    left = job.seconds_left
    eta = "" if left is None else f", about {_duration(left)} left"
    return f"{read} of {counted(job.total, 'page')}{eta}"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
