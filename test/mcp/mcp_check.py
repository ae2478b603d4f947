#!/usr/bin/env python3
"""Does `dnheap mcp` keep to its protocol? Usage: mcp_check.py DNHEAP

Speaks to it over pipes, as clients of both kinds do, about the bundled sample and a small core extracted from it; and as no client
should: broken JSON, lines without end, methods and tools that there are not.
"""
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

SAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "sample" / "demo.core.zst"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    def __init__(self, dnheap, *words):
        self.process = subprocess.Popen([str(dnheap), "mcp", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages, self.last = queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))  # nothing else may be there
        self.messages.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def next(self):
        return self.messages.get(timeout=120)

    def ask(self, method, params=None, **more):
        self.last += 1
        self.send(id=self.last, method=method, **({} if params is None else {"params": params}), **more)
        answer = self.next()
        assert answer["id"] == self.last, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        errors = self.process.stderr.read().decode()
        assert code == 0 and self.next() is None and not errors, (code, errors)


def check_handshake(dnheap):
    for wanted, given in (("2025-11-25",) * 2, ("2025-06-18",) * 2, ("2024-11-05",) * 2, ("1999-01-01", "2025-11-25")):
        client = Client(dnheap, SAMPLE)
        result = client.ask("initialize", {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})["result"]
        assert result["protocolVersion"] == given and result["serverInfo"]["name"] == "dnheap" and "tools" in result["capabilities"], result
        client.send(method="notifications/initialized")
        assert client.ask("ping") == {"jsonrpc": "2.0", "id": 2, "result": {}}
        assert "resultType" not in client.ask("tools/list")["result"]
        client.end()


def check_modern(dnheap):
    client = Client(dnheap, SAMPLE)
    found = client.ask("server/discover", {"_meta": MODERN})["result"]
    assert found["supportedVersions"] == ["2026-07-28"] and found["resultType"] == "complete" and found["ttlMs"] >= 0, found
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "dnheap"
    tools = client.ask("tools/list", {"_meta": MODERN})["result"]
    assert tools["cacheScope"] == "private" and tools["resultType"] == "complete" and tools["tools"]
    called = client.ask("tools/call", {"name": "stat", "arguments": {"top": 1}, "_meta": MODERN})["result"]
    assert called["resultType"] == "complete" and "ttlMs" not in called and called["structuredContent"]["command"] == "stat"
    # It has no such thing any more.
    assert client.ask("ping", {"_meta": MODERN})["error"]["code"] == -32601
    refused = client.ask("tools/list", {"_meta": {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}})["error"]
    assert refused["code"] == -32022 and refused["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}, refused
    client.end()


def check_tools(dnheap, small):
    client = Client(dnheap, SAMPLE, small)
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    assert {"report", "stat", "path", "diff", "query", "summary"} <= set(tools), sorted(tools)
    # What writes files, looks at other processes or reads other files is none.
    assert not {"extract", "export", "collect", "ps", "check", "explore", "shell", "mcp", "completion"} & set(tools), sorted(tools)
    stat = tools["stat"]["inputSchema"]
    assert stat["properties"]["sort"]["enum"] == ["bytes", "count", "aligned_bytes", "type"] and stat["required"] == ["file"], stat
    assert stat["properties"]["file"]["enum"] == [SAMPLE.name, small.name] and "format" not in stat["properties"]
    assert "values" not in tools["show"]["inputSchema"]["properties"] and "subject" in tools["show"]["inputSchema"]["required"]

    def direct(*words):
        return json.loads(subprocess.run([dnheap, *map(str, words), "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
    for file, path in ((SAMPLE.name, SAMPLE), (small.name, small)):
        result = client.call("stat", file=file, top=5, type="^Shop", sort="count")
        assert not result["isError"] and result["structuredContent"] == direct("stat", path, "--top", 5, "--type", "^Shop", "--sort", "count")
        assert json.loads(result["content"][1]["text"]) == result["structuredContent"]
        assert f"there are {result['structuredContent']['left_out']['types']} more rows of 'types'" in result["content"][0]["text"], result["content"][0]
    report = client.call("report", file=SAMPLE.name)
    assert "2,000 handlers were added to Shop.Events.PriceFeed.Changed" in report["content"][0]["text"] and f'next: inspect {{"file":"{SAMPLE.name}","subject":"events"}}' in report["content"][0]["text"], report["content"][0]
    # What an answer names as the next question is a call that works.
    followed = 0
    for tool in tools:
        if "subject" in tools[tool]["inputSchema"].get("required", []) or tool in ("query", "diff"):
            continue
        _, _, words = client.call(tool, file=SAMPLE.name)["content"][0]["text"].partition("\n\nnext: ")
        name, _, arguments = words.partition(" ")
        if words:
            followed += 1
            assert not client.call(name, **json.loads(arguments))["isError"], words
    assert followed > 10, followed
    assert client.call("path", file=SAMPLE.name, subject="@1")["structuredContent"]["tables"]["paths"]
    assert client.call("inspect")["isError"] or client.call("inspect", file=SAMPLE.name)["structuredContent"]["tables"]["inspectors"]
    assert client.call("inspect", file=SAMPLE.name, subject="timers", top=1)["structuredContent"]["tables"]["timers"]
    assert client.call("diff", files=[small.name, SAMPLE.name])["structuredContent"]["tables"]["owners"]
    rows = client.call("query", file=SAMPLE.name, subject="select count(*) as n from types")["structuredContent"]["tables"]["rows"]
    assert rows == [{"n": 212}], rows
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    result = client.call("query", file=SAMPLE.name, subject=endless, timeout="1s")
    assert result["isError"] and client.call("stat", file=SAMPLE.name)["isError"] is False, result
    large = client.call("objects", file=SAMPLE.name, top=10000)
    assert "of 10000 rows of 'objects'" in large["content"][0]["text"] and len(json.dumps(large)) < 200_000
    assert len(large["structuredContent"]["tables"]["objects"]) > 100
    for wrong, why in (({"file": "other"}, "there is no such file"), ({"file": SAMPLE.name, "sort": "x"}, "is none of bytes"),
                       ({"file": SAMPLE.name, "top": 0}, "'top' needs a number"), ({"file": SAMPLE.name, "top": -1}, "'top' needs a number"),
                       ({"file": SAMPLE.name, "live": "yes"}, "true or false"), ({"file": SAMPLE.name, "values": True}, "without --values"),
                       ({"file": SAMPLE.name, "output": "/tmp/x"}, "takes no 'output'"), ({"file": SAMPLE.name, "format": "csv"}, "takes no 'format'"),
                       ({"file": SAMPLE.name, "type": "("}, "not a regular expression"), ({}, "which file?"), ({"file": SAMPLE.name, "subject": "x"}, "takes no 'subject'")):
        result = client.call("stat", **wrong)
        assert result["isError"] and why in result["content"][0]["text"], (wrong, result)
    for subject in "--output=/tmp/dnheap-mcp-was-here", "-o/tmp/dnheap-mcp-was-here", "--help":
        assert client.call("path", file=SAMPLE.name, subject=subject)["isError"]
    assert not pathlib.Path("/tmp/dnheap-mcp-was-here").exists()
    assert client.call("show", file=SAMPLE.name, subject="0x10")["isError"]
    client.end()


def check_values(dnheap):
    secret = "select value from strings where length > 20 limit 1"
    for words, shows in ([], False), (["--values"], True):
        client = Client(dnheap, SAMPLE, *words)
        arguments = {"values": True} if shows else {}
        rows = client.call("query", subject=secret, **arguments)["structuredContent"]["tables"]["rows"]
        assert (rows[0]["value"] is not None) == shows, rows
        client.end()


def check_malformed(dnheap):
    client = Client(dnheap, SAMPLE)
    cases = [(b"{\n", -32700), (b"\xff\xfe\n", -32700), (b"[]\n", -32600), (b"7\n", -32600), (b"{}\n", -32600),
             (b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600),
             (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":9}\n', -32600),
             (b'{"jsonrpc":"2.0","id":9,"method":"no/such"}\n', -32601), (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}\n', -32602),
             (b'{"jsonrpc":"2.0","id":"a","method":"tools/call"}\n', -32602),
             (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"extract"}}\n', -32602),
             (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"stat","arguments":[]}}\n', -32602),
             (b"[" * 100_000 + b"\n", -32600), (b'"' + b"x" * (5 << 20) + b'"\n', -32600)]
    for data, code in cases:
        client.raw(data)
        answer = client.next()
        assert answer["error"]["code"] == code, (data[:60], answer)
        assert answer.get("id") == (9 if b'"id":9' in data else "a" if b'"id":"a"' in data else None), answer
    # Of these nothing comes; and it goes on.
    client.raw(b'\n \r\n{"jsonrpc":"2.0","method":"no/such"}\n{"jsonrpc":"2.0","id":3,"result":{}}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}\n')
    assert client.ask("ping")["result"] == {}
    client.end()


def check_progress_and_cancelling(dnheap):
    client = Client(dnheap, SAMPLE)
    client.send(id=1, method="tools/call", params={"name": "report", "_meta": {"progressToken": "p"}})
    steps = []
    while "id" not in (message := client.next()):
        assert message["method"] == "notifications/progress" and message["params"]["progressToken"] == "p", message
        steps.append(message["params"]["progress"])
    assert message["id"] == 1 and steps == sorted(set(steps)), steps
    # Many at once: the last of them is cancelled before it begins, and not answered.
    for number in range(10, 16):
        client.send(id=number, method="tools/call", params={"name": "retained", "arguments": {"top": 1}})
    client.send(method="notifications/cancelled", params={"requestId": 15})
    client.send(method="notifications/cancelled", params={"requestId": 10})  # runs already, or is done
    client.send(id=16, method="tools/call", params={"name": "stat", "arguments": {"top": 1}})
    answered = []
    while not answered or answered[-1] != 16:
        answered.append(client.next()["id"])
    assert answered in ([11, 12, 13, 14, 16], [10, 11, 12, 13, 14, 16]), answered
    # What was asked before the input's end is answered.
    client.send(id=17, method="tools/call", params={"name": "segments"})
    client.process.stdin.close()
    assert client.next()["id"] == 17 and client.next() is None and client.process.wait(60) == 0


def check_errors(dnheap, folder):
    notes = folder / "notes.txt"
    notes.write_text("no dump")
    client = Client(dnheap, notes)  # said when it is asked, so that the client shows it
    result = client.call("report")
    assert result["isError"] and "not a dump: text" in result["content"][0]["text"], result
    client.end()
    done = subprocess.run([dnheap, "mcp"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and not done.stdout and b"which dump?" in done.stderr, done
    assert subprocess.run([dnheap, "mcp", SAMPLE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout == b""


def main(dnheap):
    dnheap = pathlib.Path(dnheap).resolve()
    with tempfile.TemporaryDirectory(prefix="dnheap-mcp-") as folder:
        folder = pathlib.Path(folder)
        small = folder / "small.core"
        subprocess.run([dnheap, "extract", SAMPLE, "-o", small], check=True, stdout=subprocess.DEVNULL)
        check_handshake(dnheap)
        check_modern(dnheap)
        check_tools(dnheap, small)
        check_values(dnheap)
        check_malformed(dnheap)
        check_progress_and_cancelling(dnheap)
        check_errors(dnheap, folder)
    print("mcp: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
