"""The demos of the server: a process that drains when it is interrupted, and clients that tell a wrong server."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from demo_runs import quick, refused, run, table

from demos import serving
from experiments.ch08.serving_runs import client
from experiments.ch11.constrained_runs import SCHEMA
from rankzero.grammar.json_validity import json_fault
from tools.common import ROOT


@contextmanager
def started(*arguments):
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "demos", "server", "--model", "random", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


LONG = {"model": "tiny", "prompt": "A", "max_tokens": 200, "temperature": 0, "stream": True, "ignore_eos": True}


def stream(url):
    """A long answer that has begun."""
    asked = urllib.request.Request(f"{url}/v1/completions", json.dumps(LONG).encode())
    answer = urllib.request.urlopen(asked, timeout=60)
    assert answer.readline().startswith(b"data: ")
    return answer


@pytest.mark.proof(part="runs")
def test_an_interrupt_drains(tmp_path):
    """The answer that has begun comes to its end; then the process ends well, with every block free and a trace."""
    trace = tmp_path / "events.jsonl"
    with started("--slots", "2", "--trace", str(trace)) as (process, url):
        answer = stream(url)
        process.send_signal(signal.SIGINT)
        body = answer.read().decode()
        out, error = process.communicate(timeout=60)
    assert body.rstrip().endswith("data: [DONE]")
    assert '"finish_reason": "length"' in body
    assert (process.returncode, error) == (0, "")
    assert "every block is free: yes" in out
    names = {json.loads(line)["name"] for line in trace.read_text(encoding="utf-8").splitlines()}
    assert {"api", "runner", "stream"} <= names


def test_the_server_shows_reuse():
    rows = {row["metric"]: int(row["value"]) for row in quick("server").rows}
    assert rows["cached_tokens"] == 16
    assert rows["blocks_free"] == rows["blocks"]


def test_the_server_keeps_forms():
    """It is built with the course's own constraint: the real client gets a form by its schema."""
    form = {"type": "json_schema", "json_schema": {"name": "form", "schema": SCHEMA}}
    said = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 50}
    with serving.start("solutions") as running:
        found = client(running).chat.completions.create(**said, response_format=form)
    assert json_fault(found.choices[0].message.content, SCHEMA) is None


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", ["openai_client", "load"])
def test_clients_of_a_running_server(name, tmp_path):
    with serving.start("solutions", slots=2) as running:
        more = ["--stream"] if name == "openai_client" else ["--rate", "50"]
        rows = table(tmp_path, name, "--requests", "5", "--url", running.url, *more)
        assert running.metrics()["requests"] >= 5
    assert len(rows) == 5 if name == "openai_client" else rows[0] == {"what": "answers", "value": "5"}


class Cut(BaseHTTPRequestHandler):
    """Answers 200, and stops in the middle."""

    def do_POST(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_server_that_cuts_streams_is_status_1(capsys):
    with ThreadingHTTPServer(("127.0.0.1", 0), Cut) as cutting:
        threading.Thread(target=cutting.serve_forever, daemon=True).start()
        assert run("load", "--quick", "--url", f"http://127.0.0.1:{cutting.server_port}") == 1
        cutting.shutdown()
    assert "NO" in capsys.readouterr().out


PLACES = (
    "ch08.detokenizer",
    "ch08.tiny_serving",
    "ch09.block_pool",
    "ch10.scheduler",
)


def test_a_learners_own_parts_serve(monkeypatch):
    """The parts are loaded by name, from the package that is asked for."""
    for name in PLACES:
        monkeypatch.setitem(sys.modules, f"labs.{name}", importlib.import_module(f"solutions.{name}"))
    assert run("server", "--quick", "--code", "labs") == 0


@pytest.mark.parametrize("name", ["server", "openai_client", "load"])
def test_a_part_that_is_missing_when_it_is_needed_is_one_sentence(name, monkeypatch, capsys):
    """The server starts, for only a stub's call raises; the demo ends in the stub's sentence all the same."""
    for place in PLACES:
        if place != "ch08.tiny_serving":
            monkeypatch.setitem(sys.modules, f"labs.{place}", importlib.import_module(f"solutions.{place}"))
    assert run(name, "--quick", "--code", "labs") == 1
    error = capsys.readouterr().err
    assert "08-next-token-probabilities" in error
    assert "Traceback" not in error


def test_a_taken_port_is_one_sentence():
    with serving.start("solutions") as running:
        assert "in use" in refused("server", "--quick", "--port", running.url.rsplit(":")[-1])
