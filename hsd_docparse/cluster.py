"""Workers of a folder job as actors of a Ray cluster.

Every actor is one replica: a process with a target of its own (where one verifies), a reader of its
own that drafts, and one document at a time. Nothing is shared between actors, so that regions of
different documents are never verified in one batch: that needs a target that serves all of them.

The state is written by this process alone. A document is claimed when an actor is free for it, so
that there are never more in flight than actors. The claim is held by a lock of the actor itself:
it stands as long as somebody may write the document's outputs, whoever else has died. All machines
need the folder and OUT under the same names, on a file system that knows locks.
"""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hsd_docparse.batch import Job, convert, take
from hsd_docparse.errors import StateError
from hsd_docparse.state import MOST_ATTEMPTS, Claim, Lock, Outcome, PageOutcome, State

LOCAL = "local"
"""In the place of an address: a cluster that is started here, and ends with the job."""
_PATIENCE = 5.0
"""Seconds to wait for actors to end, and for a cluster to answer."""


class Replica:
    """What runs in an actor."""

    def __init__(self, job: Job, folder: str) -> None:
        os.chdir(folder)  # where relative paths begin
        warnings.simplefilter("ignore")
        self._job = job
        self._lock = Lock(job.out)

    def token(self) -> str:
        return self._lock.token

    def convert(self, claim: Claim) -> tuple[Outcome, list[PageOutcome]]:
        pages: list[PageOutcome] = []
        return convert(self._job, claim, pages.append), pages

    def close(self) -> None:
        self._lock.release()


@dataclass
class Actor:
    """An actor of the cluster, the token of its lock once it has started, and what it is asked."""

    handle: Any
    answer: Any
    token: str | None = None
    claim: Claim | None = None


class Actors:
    """``count`` replicas. One that dies is replaced, and its document tried again."""

    def __init__(self, job: Job, count: int) -> None:
        import ray

        self._ray = ray
        self._job = job
        self._count = count
        gpus = min(1, ray.cluster_resources().get("GPU", 0) / count)
        self._replica: Any = ray.remote(
            num_cpus=1, num_gpus=gpus if job.settings.verifies else 0, max_restarts=0
        )(Replica)
        self._actors: list[Actor] = []
        self._lost = 0

    def step(self, state: State) -> None:
        """Take what actors have finished, and give them what waits. Raises `StateError` when they
        die again and again without finishing anything."""
        for actor in list(self._actors):
            if actor.answer is not None and self._has_answered(actor):
                self._listen(actor, state)
        state.release_dead()
        if not state.is_settled(self._job.digest):
            while len(self._actors) < self._count:
                handle = self._replica.remote(self._job, os.getcwd())
                self._actors.append(Actor(handle, handle.token.remote()))
        for actor in self._actors:
            if actor.answer is None and actor.token is not None:
                actor.claim = take(self._job, state, actor.token)
                if actor.claim is not None:
                    actor.answer = actor.handle.convert.remote(actor.claim)

    def _has_answered(self, actor: Actor) -> bool:
        ready, _ = self._ray.wait([actor.answer], timeout=0)
        return bool(ready)

    def _listen(self, actor: Actor, state: State) -> None:
        try:
            answer = self._ray.get(actor.answer)
        except self._ray.exceptions.RayError as error:
            self._actors.remove(actor)
            self._lost += 1
            # Each of them may have met a document that ends its process, and meet it again.
            if self._lost > MOST_ATTEMPTS * self._count:
                raise StateError(
                    f"The actors end before they convert anything ({error})."
                ) from None
            return
        actor.answer = None
        if actor.claim is None:
            actor.token = answer
            return
        outcome, pages = answer
        for page in pages:
            state.add_page(actor.claim, page)
        state.finish(actor.claim, outcome)
        actor.claim = None
        self._lost = 0

    def stop(self) -> None:
        """End all actors; those that are idle give their locks back."""
        ends = [actor.answer or actor.handle.close.remote() for actor in self._actors]
        idle = [end for end, actor in zip(ends, self._actors, strict=True) if not actor.answer]
        if idle:
            self._ray.wait(idle, num_returns=len(idle), timeout=_PATIENCE)
        for actor in self._actors:
            self._ray.kill(actor.handle)
        if ends:  # the claims of those that still live could not be released
            self._ray.wait(ends, num_returns=len(ends), timeout=_PATIENCE)


@contextmanager
def ray_actors(job: Job, count: int, address: str) -> Iterator[Actors]:
    """``count`` actors of the cluster at ``address``. Raises `StateError` where Ray is not
    installed or the cluster cannot be reached."""
    try:
        import ray
    except ImportError:
        raise StateError("--ray needs Ray: pip install 'hsd-docparse[ray]'.") from None
    quietly: dict[str, Any] = {"log_to_driver": job.debug, "configure_logging": job.debug}
    try:
        if address == LOCAL:
            ray.init(address="local", num_cpus=count, include_dashboard=False, **quietly)
        else:
            _knock(address)
            ray.init(address=address, **quietly)
    except (OSError, ValueError, RuntimeError) as error:
        raise StateError(f"There is no Ray cluster at {address}: {error}") from None
    try:
        yield Actors(job, count)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise `OSError` where nobody listens at ``host:port``: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
