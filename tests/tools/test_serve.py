"""The server of the built book: the same address each time, since answers belong to it."""

from __future__ import annotations

import socket

import pytest

from tools import serve


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A built book of one page, which nobody serves for longer than it takes to say where."""
    (tmp_path / "index.html").write_text("<title>x</title>")
    monkeypatch.setattr(serve, "HTML", tmp_path)
    monkeypatch.setattr(serve.ThreadingHTTPServer, "serve_forever", interrupted)
    return tmp_path


def interrupted(self) -> None:
    raise KeyboardInterrupt


def free(port: int) -> bool:
    """Whether nobody uses a port."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0


def two_ports() -> int:
    """The first of two ports that nobody uses, one after the other."""
    with serve.server() as found:
        start = found.server_port
    return next(port for port in range(start, 65_535) if free(port) and free(port + 1))


def test_the_port_is_the_same_each_time(book, monkeypatch, capsys):
    """Kills a server whose address changes from day to day, and with it what the browser finds again."""
    port = two_ports()
    monkeypatch.setattr(serve, "PORT", port)
    assert [serve.main([]), serve.main([])] == [0, 0]
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == said[2:]
    assert said[0] == f"the book is at http://127.0.0.1:{port}/ (stop with Ctrl-C)"
    assert "for this address only" in said[1]


def test_the_next_one_where_it_is_taken(book, monkeypatch, capsys):
    """Kills a traceback, and silence about why yesterday's answers are not there."""
    port = two_ports()
    monkeypatch.setattr(serve, "PORT", port)
    with serve.server(book, port):
        assert serve.main([]) == 0
    said = capsys.readouterr().out
    assert f"http://127.0.0.1:{port + 1}/" in said
    assert f"port {port} is taken" in said
    assert f"those from port {port} do not show here" in said


def test_a_port_that_is_named_is_the_only_one(book, capsys):
    """Kills a traceback, and another port than the one that was asked for."""
    with serve.server(book) as other:
        port = other.server_port
        assert serve.main(["--port", str(port)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"port {port} cannot be used: ")
    assert error.count("\n") == 1
    assert serve.main(["--port", "70000"]) == 1
