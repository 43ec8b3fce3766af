"""The actors of a Ray cluster convert a folder as processes do, whoever of them dies."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from benchmarks import kills
from hsd_docparse.batch import Job
from hsd_docparse.cluster import ray_actors
from hsd_docparse.convert import Settings
from hsd_docparse.errors import StateError
from hsd_docparse.export import Outputs
from hsd_docparse.state import State

pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kills find processes in /proc")

ACTORS = ("--ray", "local", "--workers", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder") / "in"
    kills.make_documents(folder, 16)
    return folder


def test_an_address_where_nobody_listens_is_a_sentence(tmp_path: Path) -> None:
    job = Job(tmp_path, tmp_path, Settings(mode="draft"), Outputs())
    error = "There is no Ray cluster at 127.0.0.1:1: "
    with pytest.raises(StateError, match=error), ray_actors(job, 1, "127.0.0.1:1"):
        pass


def most_at_once(state: State) -> int:
    """How many documents were being converted when most were."""
    running: set[str] = set()
    most = 0
    for event in state.events():
        (running.add if event.state == "running" else running.discard)(event.path)
        most = max(most, len(running))
    return most


@pytest.mark.parametrize(
    ("options", "finished", "at_once"),
    [((), 6, {1, 2}), (("--mode", "lossless", "-f", "md"), 4, {3, 4})],
    ids=["a document an actor", "several, verified in one batch"],
)
def test_an_actor_that_is_killed_costs_nothing_but_time(
    folder: Path, tmp_path: Path, options: tuple[str, ...], finished: int, at_once: set[int]
) -> None:
    calm, torn = tmp_path / "calm", tmp_path / "torn"
    assert kills.start(folder, calm, *options).wait() == 1
    process = kills.start(folder, torn, *options, *ACTORS)
    assert kills.wait_for(process, torn, finished)
    assert kills.strike(process, "worker", random.Random(0))
    assert process.wait() == 1
    assert set(kills.finished(torn).values()) == {1}
    with State(torn) as state:
        assert (state.counts().done, state.counts().failed) == (13, 3)
        assert any("ended its process" in event.note for event in state.events())
        assert most_at_once(state) in at_once
    assert kills.outputs(torn) == kills.outputs(calm)
