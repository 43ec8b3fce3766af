"""Workers of a folder job as actors of a Ray cluster.

Every actor is one replica: a process with a target of its own. Where the target verifies, an actor
has several documents in work, each with a reader that drafts it: while some are drafted, the
regions and pages of the others are verified in one batch (`hsd_docparse.sharing`).

The state is written by this process alone. A document is claimed when an actor has a place for it,
so that there are never more in flight than places. The claim is held by a lock of the actor itself:
it stands as long as somebody may write the document's outputs, whoever else has died. A document
that was in work when an actor died is tried again alone, so that one which ends its process takes
others with it only once. All machines need the folder and OUT under the same names, on a file
system that knows locks.
"""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hsd_docparse.batch import Job, convert, take
from hsd_docparse.errors import StateError
from hsd_docparse.state import MOST_ATTEMPTS, Claim, Lock, Outcome, PageOutcome, State

LOCAL = "local"
"""In the place of an address: a cluster that is started here, and ends with the job."""
_PLACES = 2
"""Documents that an actor has in work where its target verifies on processors."""
_PLACES_ON_GPU = 8
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
    """An actor of the cluster, the token of its lock once it has started, what it was asked and for
    which claims: ``starting`` for its token, ``work`` for documents."""

    handle: Any
    starting: Any
    token: str | None = None
    work: dict[Any, Claim] = field(default_factory=dict)

    def has_place(self, places: int) -> bool:
        if self.token is None or len(self.work) >= places:
            return False
        return all(claim.attempt == 1 for claim in self.work.values())


class Actors:
    """``count`` replicas. One that dies is replaced, and its documents tried again."""

    def __init__(self, job: Job, count: int) -> None:
        import ray

        self._ray = ray
        self._job = job
        self._count = count
        gpus = min(1, ray.cluster_resources().get("GPU", 0) / count) if job.settings.verifies else 0
        self._places = (_PLACES_ON_GPU if gpus else _PLACES) if job.settings.verifies else 1
        replica: Any = ray.remote(Replica)
        self._replica = replica.options(
            num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=self._places
        )
        self._actors: list[Actor] = []
        self._lost = 0

    def step(self, state: State) -> None:
        """Take what actors have finished, and give them what waits. Raises `StateError` when they
        die again and again without finishing anything."""
        for actor in list(self._actors):
            self._listen(actor, state)
        state.release_dead()
        if not state.is_settled(self._job.digest):
            while len(self._actors) < self._count:
                handle = self._replica.remote(self._job, os.getcwd())
                self._actors.append(Actor(handle, handle.token.remote()))
        for actor in self._actors:
            while actor.has_place(self._places):
                assert actor.token is not None
                claim = take(self._job, state, actor.token, fresh=bool(actor.work))
                if claim is None:
                    break
                actor.work[actor.handle.convert.remote(claim)] = claim

    def _listen(self, actor: Actor, state: State) -> None:
        asked = [*actor.work] if actor.token is not None else [actor.starting]
        if not asked:
            return
        answered, _ = self._ray.wait(asked, num_returns=len(asked), timeout=0)
        try:
            for ask in answered:
                answer = self._ray.get(ask)
                if actor.token is None:
                    actor.token = answer
                    continue
                outcome, pages = answer
                claim = actor.work.pop(ask)
                for page in pages:
                    state.add_page(claim, page)
                state.finish(claim, outcome)
                self._lost = 0
        except self._ray.exceptions.RayError as error:
            self._actors.remove(actor)
            self._lost += 1
            # Each of them may have met a document that ends its process, and meet it again.
            if self._lost > MOST_ATTEMPTS * self._count:
                raise StateError(
                    f"The actors end before they convert anything ({error})."
                ) from None

    def stop(self) -> None:
        """End all actors; those that are idle give their locks back."""
        idle = [actor for actor in self._actors if actor.token is not None and not actor.work]
        ends = [actor.handle.close.remote() for actor in idle]
        if ends:
            self._ray.wait(ends, num_returns=len(ends), timeout=_PATIENCE)
        for actor in self._actors:
            self._ray.kill(actor.handle)
        # The claims of those that still live could not be released.
        asked = [ask for actor in self._actors for ask in actor.work or [actor.starting]]
        if asked:
            self._ray.wait(asked, num_returns=len(asked), timeout=_PATIENCE)


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
