"""What several processes agree on: who converts which document, and what became of it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hsd_docparse.errors import StateError
from hsd_docparse.state import (
    FILE,
    LOCKS,
    MOST_ATTEMPTS,
    Claim,
    Lock,
    Outcome,
    PageOutcome,
    Signature,
    State,
)

OLD, NEW = Signature(10, 1), Signature(20, 2)


def planned(out: Path, *paths: str) -> State:
    state = State(out)
    state.begin(out / "folder")
    state.plan([(path, path, OLD) for path in paths], "settings")
    return state


def done(signature: Signature = OLD, error: str | None = None) -> Outcome:
    return Outcome(signature, "digest", 1, 0.5, error)


def states(state: State) -> dict[str, str]:
    return {row["path"]: row["state"] for row in state.documents()}


def claimed(state: State, worker: str = "nobody") -> Claim:
    claim = state.claim(worker, "settings")
    assert claim is not None
    return claim


def taken_by_a_process_that_dies(out: Path) -> None:
    code = (
        "import os, pathlib; from hsd_docparse.state import Lock, State\n"
        f"out = pathlib.Path({str(out)!r}); lock = Lock(out)\n"
        "assert State(out).claim(lock.token, 'settings'); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9


def test_each_document_is_claimed_once(tmp_path: Path) -> None:
    paths = [f"{number}.pdf" for number in range(120)]
    planned(tmp_path, *paths)

    def claim_all(worker: str) -> list[str]:
        with State(tmp_path) as state:
            return [claim.path for claim in iter(lambda: state.claim(worker, "settings"), None)]

    with ThreadPoolExecutor(4) as threads:
        claims = [path for part in threads.map(claim_all, "abcd") for path in part]
    assert sorted(claims) == sorted(paths)


def test_claims_stand_while_their_worker_lives(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf", "b.pdf")
    taken_by_a_process_that_dies(tmp_path)
    lock = Lock(tmp_path)
    claimed(state, lock.token)
    state.release_dead()
    assert states(state) == {"a.pdf": "waiting", "b.pdf": "running"}
    lock.release()
    state.release_dead()
    assert states(state) == {"a.pdf": "waiting", "b.pdf": "waiting"}
    assert [path.name for path in (tmp_path / LOCKS).iterdir()] == ["door"]


def test_a_document_that_keeps_ending_its_process_is_given_up(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    for _ in range(MOST_ATTEMPTS):
        assert states(state) == {"a.pdf": "waiting"}
        taken_by_a_process_that_dies(tmp_path)
        state.release_dead()
    assert states(state) == {"a.pdf": "failed"}
    (row,) = state.documents()
    assert row["error"].startswith("it ended the process that converted it 3 times")
    state.begin(tmp_path / "folder")
    assert states(state) == {"a.pdf": "failed"}
    state.begin(tmp_path / "folder", force=True)
    assert states(state) == {"a.pdf": "waiting"}


def test_a_document_is_not_given_up_where_whole_runs_are_killed(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf", "b.pdf")
    for _ in range(MOST_ATTEMPTS + 1):
        taken_by_a_process_that_dies(tmp_path)
        state.begin(tmp_path / "folder")
    assert states(state) == {"a.pdf": "waiting", "b.pdf": "waiting"}


def test_a_document_given_back_is_not_blamed(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    for _ in range(MOST_ATTEMPTS + 1):
        state.release(claimed(state))
    assert states(state) == {"a.pdf": "waiting"}


def test_documents_that_ended_a_process_come_last(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf", "b.pdf")
    taken_by_a_process_that_dies(tmp_path)
    state.release_dead()
    first = claimed(state)
    assert (first.path, first.attempt) == ("b.pdf", 1)
    assert state.claim("nobody", "settings", fresh=True) is None
    second = claimed(state)
    assert (second.path, second.attempt) == ("a.pdf", 2)


def test_half_written_files_of_the_dead_are_removed(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    state.own("a.pdf", ["a.md"])
    for name in ("a.md.part", "other.md.part"):
        (tmp_path / name).touch()
    taken_by_a_process_that_dies(tmp_path)
    state.release_dead()
    assert not (tmp_path / "a.md.part").exists()
    assert (tmp_path / "other.md.part").exists()


def test_what_is_planned_as_before_stays_done(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    state.finish(claimed(state), done())
    state.plan([("a.pdf", "a.pdf", OLD)], "settings")
    assert states(state) == {"a.pdf": "done"}
    state.touched("a.pdf", "digest", NEW)
    state.plan([("a.pdf", "a.pdf", NEW)], "settings")
    assert states(state) == {"a.pdf": "done"}


@pytest.mark.parametrize(
    ("name", "signature", "settings"),
    [("b", OLD, "settings"), ("a.pdf", NEW, "settings"), ("a.pdf", OLD, "others")],
)
def test_what_changes_is_converted_again_even_while_it_runs(
    tmp_path: Path, name: str, signature: Signature, settings: str
) -> None:
    state = planned(tmp_path, "a.pdf", "b.pdf")
    state.finish(claimed(state), done())
    running = claimed(state)
    changed = [(path, name + path, signature) for path in ("a.pdf", "b.pdf")]
    state.plan(changed, settings)
    assert states(state) == {"a.pdf": "waiting", "b.pdf": "running"}
    state.finish(running, done())
    assert states(state) == {"a.pdf": "waiting", "b.pdf": "waiting"}
    assert not state.is_settled(settings)
    assert (state.claim("nobody", "settings") is None) == (settings == "others")


def test_a_name_is_not_written_by_two_at_once(tmp_path: Path) -> None:
    state = planned(tmp_path, "a")
    running = claimed(state)
    state.plan([("a", "other", OLD), ("new", "a", OLD)], "settings")
    assert state.claim("nobody", "settings") is None
    state.finish(running, done())
    assert {claimed(state).name, claimed(state).name} == {"a", "other"}


def test_failures_are_tried_again_by_the_next_run(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    state.finish(claimed(state), done(error="a.pdf is empty."))
    assert [event.note for event in state.events()][-1] == "a.pdf is empty."
    assert state.is_settled("settings")
    state.begin(tmp_path / "folder")
    assert states(state) == {"a.pdf": "waiting"}


def test_pages_are_those_of_the_last_attempt(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    claim = claimed(state)
    state.add_page(claim, PageOutcome(1, "broken", 2))
    state.add_page(claim, PageOutcome(2, None, 1))
    assert (state.counts().pages, state.counts().failed_pages) == (2, 1)
    assert state.failed_pages("a.pdf") == [(1, "broken")]
    assert state.warnings("a.pdf") == 3
    state.release(claim)
    claimed(state)
    assert state.counts().pages == 0


def test_a_result_that_comes_too_late_is_not_counted(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    first = claimed(state, "first")
    state.release(first)
    claimed(state, "second")
    state.finish(first, done())
    assert states(state) == {"a.pdf": "running"}


def test_results_of_another_folder_are_left_alone(tmp_path: Path) -> None:
    state = planned(tmp_path, "a.pdf")
    with pytest.raises(StateError, match="holds the results of"):
        state.begin(tmp_path / "other")
    state.begin(tmp_path / "other", force=True)


def test_a_file_that_is_no_state_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("no database " * 100)
    with pytest.raises(StateError, match="move it away"):
        State(tmp_path)
