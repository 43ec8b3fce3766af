from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fake_parts import fakes
from fastapi.testclient import TestClient

from hsd_docparse.jobs import Jobs, Limits
from hsd_docparse.service import create_app

__all__ = ["fakes"]


@pytest.fixture
def jobs(fakes: None) -> Iterator[Jobs]:
    with Jobs(Limits(bytes=1000, pages=5)) as jobs:
        yield jobs


@pytest.fixture
def client(jobs: Jobs) -> Iterator[TestClient]:
    with TestClient(create_app(jobs)) as client:
        yield client


def test_x(client):
    r = client.post("/jobs", files={"file": ("a.pdf", b"one two")}, data={"formats": "md,json"})
    print(r.status_code, r.headers, r.json())
    time.sleep(1)
    u = r.json()["url"]
    for p in ["", "/events", "/result.md", "/result.html", "/archive"]:
        r = client.get(u + p); print(p, r.status_code, r.headers, r.text)
    r = client.delete(u); print(r.status_code, r.text)
    r = client.get(u); print(r.status_code, r.text)
    r = client.post("/jobs", data={"formats": "md,jsxon"}); print(r.status_code, r.text)
    r = client.post("/jobs", files={"file": ("a.pdf", b"one two")}, data={"formats": "md,jsxon", "target":"a/b"}); print(r.status_code, r.text)
    r = client.post("/jobs", files={"file": ("a.pdf", b"one two"*1000)}); print(r.status_code, r.text)
    import json; print(json.dumps(client.get("/openapi.json").json())[:3000])
    r = client.get("/version"); print(r.status_code, r.text)
