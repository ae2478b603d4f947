#!/usr/bin/env python3
"""`dnheap explore` on the bundled sample: what it serves equals what the verbs answer, and nobody else is served.
Usage: explore_check.py DNHEAP"""
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from served import Served

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample" / "demo.core.zst"
STAGES = ["opening", "counts", "graph", "tree", "ways", "dumps", "ready", "failed"]
RANDOM = random.Random(17)
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def equal(found, expected, what):
    check(found == expected, f"{what}: {found!r:.300} is not {expected!r:.300}")


def verb(dnheap, dump, *words):
    done = subprocess.run([dnheap, words[0], dump, *words[1:], "--format", "json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def check_answers(page, dnheap, dump):
    """Verbs asked through the page answer as on the command line."""
    for words, parameters in ((["stat", "--top", "200"], {}), (["stat", "--type", "Shop", "--gen", "gen2", "--top", "3"],
                              {"type": "Shop", "gen": "2", "top": 3}), (["retained", "--top", "0"], {"top": 0}),
                              (["report", "--top", "200"], {}), (["threads", "--top", "200"], {}),
                              # These ask for objects' sizes, which the explorer gave back.
                              (["threads", "--by", "retained", "--top", "200"], {"by": "retained"}),
                              (["path", "Shop.Product", "--top", "200"], {"subject": "Shop.Product"}),
                              (["async", "--by", "retained", "--top", "200"], {"by": "retained"}),
                              (["roots", "--table", "kinds", "--top", "200"], {"table": "kinds"}),
                              (["stat", "--live", "--min", "1k", "--top", "200"], {"live": "", "min": "1k"})):
        equal(page.json("api/ask/" + words[0], **parameters), verb(dnheap, dump, *words), f"ask {words}")
    for path, status in (("api/ask/nonsense", 404), ("api/ask/stat?top=x", 400), ("api/ask/stat?nonsense=1", 400),
                         ("api/ask/stat?tree=1", 400), ("api/ask/stat?live=1&dead=1", 400), ("api/ask/stat?live=1&dead=0&top=1", 200),
                         ("api/ask/stat?top=1&top=2", 400), ("api/ask/stat?type=Shop&type=String", 400), ("api/ask/retained?hub=Shop.Product&hub=Shop.Order&top=1", 200),
                         ("api/ask/stat?type=%53hop&top=1", 200),
                         ("api/ask/stat?max=2k&min=1k", 200), ("api/ask/stat?min=2k&max=1k", 400), ("api/ask/stat?refers-to=gen0", 200),
                         ("api/ask/query?subject=select+1&limit=1", 200), ("api/ask/objects?near=0x1", 404), ("api/ask/stat?type=(", 400), ("api/ask/show", 400),
                         ("api/ask/show?subject=0x1", 404), ("api/ask/roots?table=nonsense", 400), ("api/ask/extract", 404), ("api/ask/diff", 404), ("api/ask/check", 404),
                         ("api/ask/ps", 404), ("api/ask/stat?subject=x", 400), ("api/ask/show?subject=0x1&values=1", 400),
                         ("api/nonsense", 404), ("api/map?at=x", 400), ("api/map?at=owner:x", 400), ("api/map?at=owner:999999", 404),
                         ("api/object", 400), ("api/object?at=zzz", 400), ("api/way?at=0x10", 404), ("api/children?at=0x10", 404),
                         ("api/map?at=root&levels=-1", 400), ("../etc/passwd", 404), ("%00", 404), ("index.html%00.js", 404)):
        found, _, body = page.get(path)
        equal(found, status, f"status of {path}")
        check(found == 200 or "error" in json.loads(body), f"{path} says what is wrong")


def check_tables(page, dnheap, dump):
    """Tables as the text has them: headings, words, all rows; sorted, filtered and turned by the server."""
    for words, parameters in ((["locks"], {}), (["threads"], {}), (["waste", "--live"], {"live": 1}), (["frag"], {}), (["inspect", "timers"], {"subject": "timers"})):
        answer = page.json("api/tables/" + words[0], count=1000, **parameters)
        target = [words[1], dump] if words[0] == "inspect" else [dump, *words[1:]]
        text = subprocess.run([dnheap, words[0], *target, "--full-names", "--top", "0"], stdout=subprocess.PIPE, check=True, text=True).stdout
        lines = [line.split() for line in text.splitlines()]
        for table in answer["tables"]:
            check(table["title"] in text, f"{words}: the text has no heading {table['title']!r}")
            titles = [column["title"] for column in table["columns"] if column["shown"] != "in_data" and column["kind"] != "bar"]
            check(" ".join(titles).split() in lines or not table["rows"], f"{words}: the text has no table {titles}")
            equal(len(table["rows"]), min(table["count"], 1000), f"rows of {words}, {table['name']}")
            for note in table["notes"]:
                check(note in text, f"{words}: the text has no note {note!r}")
            for row in table["rows"]:
                check(len(row) == len(table["columns"]) and not any(isinstance(cell, (list, dict)) for cell in row), f"{words}: {row}")
    objects = verb(dnheap, dump, "objects", "--top", "0")["tables"]["objects"]
    first = page.json("api/tables/objects", count=3)["tables"][0]
    equal((first["count"], len(first["rows"])), (len(objects), 3), "objects")
    at, size = ([column["key"] for column in first["columns"]].index(key) for key in ("address", "bytes"))
    by_size = page.json("api/tables/objects", rows="objects", order="bytes", count=5000)
    equal([by_size["total"], len(by_size["rows"])], [len(objects), 1000], "a page of objects by size")
    equal([row[size] for row in by_size["rows"]], sorted((row["bytes"] for row in objects), reverse=True)[:1000], "objects by size")
    last = page.json("api/tables/objects", rows="objects", **{"from": len(objects) - 2})
    equal([row[at] for row in last["rows"]], [row["address"] for row in objects[-2:]], "the last objects")
    part = objects[7]["address"][3:9]
    some = page.json("api/tables/objects", rows="objects", containing=part.upper(), count=1000)
    wanted = [row["address"] for row in objects if part in row["address"] or part in row["type"].lower()]
    equal((some["total"], [row[at] for row in some["rows"]]), (len(wanted), wanted[:1000]), "objects at addresses with a text")
    for path, status in (("api/tables/nonsense", 404), ("api/tables/objects?rows=nonsense", 404), ("api/tables/objects?rows=objects&order=nonsense", 400),
                         ("api/tables/objects?count=x", 400), ("api/tables/objects?nonsense=1", 400), ("api/tables/extract", 404), ("api/tables/show?subject=0x1", 404),
                         ("api/tables/objects?rows=objects&from=18446744073709551615&count=18446744073709551615", 200)):
        equal(page.get(path)[0], status, path)


def check_map(page, dnheap, dump):
    """Each node holds itself, its parts and the rest; places are those of `retained`."""
    retained = verb(dnheap, dump, "retained", "--top", "0")["tables"]
    owners = {row["owner"]: row for row in retained["owners"]}

    def closes(node):
        if "parts" not in node:
            return
        rest = node["rest"]
        equal(node["self"] + sum(part["retained"] for part in node["parts"]) + rest["bytes"], node["retained"],
              f"bytes of {node['at']}")
        is_object = node["kind"] == "object"
        equal(is_object + sum(part["objects"] for part in node["parts"]) + rest["objects"], node["objects"],
              f"objects of {node['at']}")
        equal(len(node["parts"]) + rest["count"], node["children"], f"children of {node['at']}")
        kinds = rest.get("kinds", [])
        check(sum(one["bytes"] for one in kinds) <= rest["bytes"] and sum(one["count"] for one in kinds) <= rest["count"],
              f"kinds within the rest of {node['at']}")
        sizes = [part["retained"] for part in node["parts"]]
        equal(sizes, sorted(sizes, reverse=True), f"order below {node['at']}")
        for part in node["parts"]:
            closes(part)

    root = page.json("api/map", levels=5)
    closes(root)
    closes(page.json("api/map", levels=3, least=1))
    named = [part for part in root["parts"] if part["kind"] == "owner"]
    check(len(named) > 3, "owners stand below the root")
    for part in named:
        row = owners[part["name"]]
        equal((part["retained"], part["objects"], part["rank"]), (row["retained"], row["objects"], row["rank"]), part["name"])
    held = sum(row["retained"] for row in retained["owners"] if row["kind"] not in ("unreachable", "frozen"))
    equal(root["retained"], held, "all that is held")

    # Page by page, every child once, largest first; each one's way up leads back.
    at = max(named, key=lambda part: part["retained"])["at"]
    while True:
        first = page.json("api/children", at=at, count=1)
        if first["total"] != 1:
            break
        at = first["rows"][0]["at"]
    rows = []
    while len(rows) < first["total"]:
        more = page.json("api/children", at=at, **{"from": len(rows), "count": 97})["rows"]
        check(more, "no page is empty before the end")
        if not more:
            break
        rows += more
    equal(len({row["at"] for row in rows}), first["total"], "children, once each")
    equal([row["retained"] for row in rows], sorted((row["retained"] for row in rows), reverse=True), "order of children")
    for row in RANDOM.sample(rows, 5):
        above = page.json("api/above", at=row["at"])["rows"]
        equal((above[0]["at"], above[-2]["at"], above[-1]["at"]), ("root", at, row["at"]), "way up")


def check_objects(page, dnheap, dump):
    """Of objects at random: who refers to them, and what they refer to, is the same the other way round, and as `show` says."""
    rows = verb(dnheap, dump, "objects", "--top", "0")["tables"]["objects"]
    for row in RANDOM.sample(rows, 60):
        if row["type"] == "Free":
            continue
        one = page.json("api/object", at=row["address"])
        equal((one["at"], one["type"], one["size"]), (row["address"], row["type"], row["bytes"]), "an object")
        to = page.json("api/references", at=row["address"], count=1000)
        equal(to["total"], one["references"], f"references of {row['address']}")
        for step in RANDOM.sample(to["rows"], min(3, len(to["rows"]))):
            back = page.json("api/referrers", at=step["node"]["at"], count=1000)
            check(back["total"] > 1000 or row["address"] in [one["node"]["at"] for one in back["rows"]],
                  f"{step['node']['at']} is referred to by {row['address']}")
        shown = verb(dnheap, dump, "show", row["address"], "--top", "0")["tables"]
        equal(one["retained"], shown["object"][0]["retained"], f"retained of {row['address']}")
        equal(sorted({one["node"]["at"] for one in page.json("api/referrers", at=row["address"], count=1000)["rows"]}),
              sorted({one["address"] for one in shown["referrers"]})[:1000], f"referrers of {row['address']}")
        path = verb(dnheap, dump, "path", row["address"])["tables"]["paths"]
        status, _, body = page.get("api/way", at=row["address"])
        equal(status, 200 if path else 404, f"is {row['address']} held")
        if path:
            way = json.loads(body)
            steps = [step["address"] for step in path[0]["steps"]]
            told = steps if len(steps) <= 1000 else steps[:500] + steps[-500:]  # of a long way its middle is left out
            equal([way["owner"]["name"]] + [step["node"]["at"] for step in way["steps"]], [path[0]["root"]["owner"]] + told,
                  f"way to {row['address']}")
            equal(sum(step.get("left_out_before", 0) for step in way["steps"]), len(steps) - len(told), "steps left out")
    node = page.json("api/map", at=next(row["address"] for row in verb(dnheap, dump, "report")["tables"]["suspects"]), levels=1, least=1 << 20)
    equal([(one["type"].split(".")[-1], one["count"]) for one in node["rest"]["kinds"]][:1], [("Session>", 5000)],
          "what is merged, by type")  # LinkedListNode<Shop.Cache.Session>
    rooted = next(row for row in verb(dnheap, dump, "roots", "--table", "roots")["tables"]["roots"] if row["kind"] == "static")
    told = page.json("api/object", at=rooted["object"])
    check(rooted["name"] in [one["name"] for one in told["roots"]] and told["root_count"] >= 1, "roots of an object")
    array = next(row["address"] for row in rows if row["type"] == "System.Object[]")  # the first of them holds static fields
    equal(page.json("api/object", at=array)["references"], page.json("api/references", at=array, count=0)["total"], "references of statics")
    fields = page.json("api/find", text="byTok", count=1000)["fields"]
    check({"type": "Shop.Cache.SessionCache", "field": "byToken"} in fields, f"fields are found by name: {fields}")
    found = page.json("api/find", text="shop.order", count=3)
    check(len(found["types"]) == 3 and all("Shop.Order" in row["name"] for row in found["types"]), "types are found by name")
    check(found["types"][0]["name"] == "Shop.Order", f"what is called exactly so comes first: {found['types']}")
    equal(page.json("api/find", text=rows[5]["address"][2:])["objects"][0]["at"], rows[5]["address"], "objects by address")
    equal(page.json("api/find", text=str(int(rows[5]["address"], 16)))["objects"][0]["at"], rows[5]["address"], "objects by decimal address")
    held = verb(dnheap, dump, "report")["tables"]["suspects"][0]["address"]
    equal(page.json("api/map", at=str(int(held, 16)), levels=1)["at"], held, "places by decimal address")
    frozen = next(row for row in rows if row["generation"] == "frozen" and not verb(dnheap, dump, "path", row["address"])["tables"]["paths"])
    status, _, body = page.get("api/map", at=frozen["address"])
    check(status == 404 and b"a frozen segment" in body and b"garbage" not in body, f"what is frozen is no garbage: {status} {body}")
    equal(page.json("api/object", at=hex(int(rows[5]["address"], 16) + 1))["at"], rows[5]["address"], "a pointer into an object")


def check_privacy(page):
    """Nobody else's page is answered; what is answered stays here."""
    own = f"127.0.0.1:{page.port}"
    for headers, path, status in (({}, "api/state", 200), ({"Origin": f"http://{own}"}, "api/state", 200),
                                  ({"Sec-Fetch-Site": "same-origin"}, "api/state", 200), ({"Sec-Fetch-Site": "none"}, "api/state", 200),
                                  ({"Host": "evil.example"}, "api/state", 403), ({"Host": f"localhost:{page.port}"}, "api/state", 403),
                                  ({"Host": "127.0.0.1"}, "api/state", 403), ({"Origin": "http://evil.example"}, "api/state", 403),
                                  ({"Origin": "null"}, "api/state", 403), ({"Origin": f"https://{own}"}, "api/state", 403),
                                  ({"Sec-Fetch-Site": "cross-site"}, "api/state", 403),
                                  ({"Sec-Fetch-Site": "same-site"}, "api/state", 403), ({}, "/", 404), ({}, "/api/state", 404),
                                  ({}, f"/{page.token[:-1]}0/api/state" if page.token[-1] != "0" else "/x/api/state", 404),
                                  ({}, f"/{page.token}", 404), ({}, f"/{'0' * 32}/api/state", 404)):
        found, answered, body = page.get(path, headers)
        equal(found, status, f"{path} with {headers}")
        check(status == 200 or page.token.encode() not in body, "a refusal does not tell the secret")
        check("Access-Control-Allow-Origin" not in answered, "no other origin may read")
        equal(answered["X-Content-Type-Options"], "nosniff", "nosniff")
        check("default-src 'none'" in answered["Content-Security-Policy"], "a strict policy")
        equal(answered["Cross-Origin-Resource-Policy"], "same-origin", "no other page may embed")
        equal(answered["Cache-Control"], "no-store", "nothing is kept")
    two = f"GET /{page.token}/api/state HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n"
    check(b" 403 " in raw(page, two.encode(), 30), "two hosts are none")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"):
        found, _, body = page.get("api/state", method=method)
        check(found == 405 and b"demo.core" not in body, f"{method} is refused: {found}")
    equal(page.get(f"/{page.token}/api/ask/stat?type=String%00Builder")[0], 400, "a NUL in a text")
    for wrong in ("%zz", "a%2", "%"):
        equal(page.get(f"/{page.token}/api/ask/stat?type={wrong}")[0], 400, f"{wrong} in a text")
    with socket.socket() as other:  # on no other address
        addresses = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
        for address in addresses:
            other.settimeout(2)
            check(other.connect_ex((address, page.port)) != 0, f"does not listen on {address}")


def check_early(page, dnheap, dump):
    """Asked while the heap is still worked through: verbs are answered, and what has to wait says so."""
    status, _, body = page.get("api/map", levels=1)
    check(status == 200 or (status == 503 and json.loads(body)["stage"] in STAGES), f"a map before its time: {status} {body[:200]!r}")
    equal(page.json("api/ask/stat", top=3), verb(dnheap, dump, "stat", "--top", "3"), "types while the rest is worked out")
    seen = [page.state()["stage"]]
    while seen[-1] not in ("ready", "failed"):
        seen.append(page.state()["stage"])
    check(seen == sorted(seen, key=STAGES.index) and seen[-1] == "ready", f"stages in their order: {sorted(set(seen))}")


def check_clients(page, other):
    """Clients that ask at the same time: each gets its own answers, also while one asks what never ends."""
    wanted = {"stat": page.json("api/ask/stat"), "retained": page.json("api/ask/retained"), "threads": page.json("api/ask/threads")}
    wrong = []

    def ask(client, words):
        for word in words:
            if client.json("api/ask/" + word) != wanted[word]:
                wrong.append(word)

    with concurrent.futures.ThreadPoolExecutor(3) as all_of_them:
        list(all_of_them.map(lambda words: ask(other(), words), ([*wanted] * 30, [*wanted][::-1] * 30, ["stat"] * 60)))
    equal(wrong, [], "answers of clients at the same time")
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n"
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        never = beside.submit(other().get, "api/ask/query", subject=endless, timeout=1)
        equal(page.state()["stage"], "ready", "the state while somebody asks what never ends")
        equal(page.json("api/ask/stat"), wanted["stat"], "an answer behind that")
        status, _, body = never.result()
        check(status == 500 and b"longer than the 1 s" in body, f"what never ends: {status} {body[:200]!r}")
    equal(page.json("api/ask/query", subject="select count(*) n from types")["tables"]["rows"][0]["n"] > 100, True, "SQL")
    equal(page.get("api/ask/query", subject="delete from types")[0], 400, "SQL that is no question")


def asked_by_hand(page, path, **parameters):
    """A connection on which this was asked."""
    one = socket.create_connection(("127.0.0.1", page.port), timeout=60)
    words = urllib.parse.urlencode(parameters)
    one.sendall(f"GET /{page.token}/{path}?{words} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nConnection: close\r\n\r\n".encode())
    return one


def check_leavers(page):
    """Who left is not waited for; who only said all that it has to say is answered, whole."""
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n"
    wanted = page.json("api/ask/stat", top=3)
    gone = asked_by_hand(page, "api/ask/query", subject=endless)
    time.sleep(0.5)  # it is being worked out
    gone.close()
    begin = time.monotonic()
    equal(page.json("api/ask/stat", top=3), wanted, "an answer while one is worked out for who left")
    took = time.monotonic() - begin
    check(took < 10, f"nobody waits for an answer to who left: {took:.1f} s")
    for _ in range(4):  # that one begins again, once
        time.sleep(0.5)
        page.json("api/ask/stat", top=3)

    begin = time.monotonic()
    with asked_by_hand(page, "api/ask/query", subject=endless, timeout=2) as half:
        half.shutdown(socket.SHUT_WR)
        time.sleep(0.5)
        equal(page.json("api/ask/stat", top=3), wanted, "an answer before that of who says no more")
        answer = half.makefile("rb").read()
        check(answer.startswith(b"HTTP/1.1 500 ") and b"longer than the 2 s" in answer, f"what never ends, half closed: {answer[:200]!r}")
    took = time.monotonic() - begin
    check(took < 20, f"nor does who says no more: {took:.1f} s")
    status, _, body = page.get("api/ask/objects", top=0)
    with asked_by_hand(page, "api/ask/objects", top=0) as half:
        half.shutdown(socket.SHUT_WR)
        answer = half.makefile("rb").read()
        equal((status, answer.partition(b"\r\n\r\n")[2] == body), (200, True), f"a long answer, half closed: {len(answer)} of {len(body)}")


def check_dropped(stalled):
    """A client that said half of a request, and then nothing: it has been 30 s, or will be."""
    stalled.settimeout(40)
    try:
        equal(stalled.recv(1), b"", "a client that stalls is told nothing")
    except ConnectionError:
        pass
    except TimeoutError:
        check(False, "a client that stalls is dropped")


def raw(page, data, wait=0.0):
    """What comes back for these bytes; without waiting for the end unless asked to."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=120) as one:
        try:
            one.sendall(data)
            if wait:
                one.settimeout(wait)
                return one.recv(65536)
        except OSError:
            pass
    return b""


def check_hostile(page, count):
    """Ten thousand requests that mean nothing, while one client never reads."""
    greedy = socket.create_connection(("127.0.0.1", page.port))
    greedy.sendall(f"GET /{page.token}/api/ask/objects?top=0 HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n".encode() * 3)
    words = ["api/", "api/ask/", "api/map", "api/children", "api/object", "api/referrers", "stat", "show", "path", "?", "&", "=", "at",
             "from", "count", "levels", "least", "top", "subject", "type", "root", "owner:", "0x", "%", "%zz", "%00", "..", "/", "-1",
             "18446744073709551615", "99999999999999999999999", "1e9", "'", "<script>", "\u202e", "é", "(((", "a" * 5000, "\r\n",
             " ", "\0"]
    statuses = set()
    for i in range(count):
        if i % 50 == 0:
            data = bytes(RANDOM.randrange(256) for _ in range(RANDOM.randrange(400)))
            raw(page, data)
            continue
        if i % 50 == 1:
            raw(page, b"GET /" + b"a" * RANDOM.choice([10, 70000, 1000000]) + b" HTTP/1.1\r\n\r\n")
            continue
        if i % 50 == 2:
            head = f"GET /{page.token}/api/state HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
            raw(page, (head + "Content-Length: 99999999\r\n" * RANDOM.randrange(3) + "X: y\r\n" * RANDOM.randrange(5000)).encode())
            continue
        path = "".join(RANDOM.choice(words) for _ in range(RANDOM.randrange(1, 9)))
        request = f"GET /{page.token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nConnection: close\r\n\r\n"
        answer = raw(page, request.encode(errors="replace"), wait=30)
        if answer.startswith(b"HTTP/1.1 "):
            statuses.add(int(answer[9:12]))
    check(statuses <= {200, 400, 403, 404, 503}, f"malformed requests are refused in words, not by {sorted(statuses)}")
    check(page.process.poll() is None and page.state()["stage"] == "ready", "it still serves")
    greedy.close()


def check_ends(dnheap, dump):
    with Served(dnheap, dump, wait=False) as page:
        code, seconds = page.end()
        check(code == 0 and seconds < 5, f"Ctrl-C ends it: exit code {code} after {seconds:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        opened, opener = pathlib.Path(folder, "opened"), pathlib.Path(folder, "xdg-open")
        opener.write_text(f'#!/bin/sh\nprintf %s "$1" >"{opened}.part" && mv "{opened}.part" "{opened}"\n')
        opener.chmod(0o755)
        with Served(dnheap, dump, environment={"DISPLAY": ":9", "PATH": f"{folder}:{os.environ['PATH']}"}) as page:
            for _ in range(200):
                if opened.exists():
                    break
                time.sleep(0.05)
            # Where there is a screen, the browser opens an address that leads to the page once, and does not name it.
            given = opened.read_text() if opened.exists() else ""
            check(given.startswith(f"http://127.0.0.1:{page.port}/") and page.token not in given, f"what the browser opens: {given}")
            path = urllib.parse.urlparse(given).path
            found, headers, _ = page.get(path)
            equal((found, headers["Location"]), (303, page.url), "the address for once")
            equal(page.get(path)[0], 404, "the address for once, twice")
    with Served(dnheap, dump, "--idle", "1") as page:
        page.process.communicate(timeout=120)
        equal(page.process.returncode, 0, "--idle ends it")
    with Served(dnheap, dump) as page:
        done = subprocess.run([dnheap, "explore", dump, "--port", str(page.port)], capture_output=True, text=True)
        check(done.returncode == 3 and f"cannot listen on 127.0.0.1:{page.port}" in done.stderr, "a port that is taken")
    with tempfile.NamedTemporaryFile() as other:
        other.write(b"no dump" * 1000)
        other.flush()
        done = subprocess.run([dnheap, "explore", other.name], capture_output=True, text=True)
        check(done.returncode == 3 and done.stdout == "" and "dnheap: " in done.stderr, "what is no dump")
    done = subprocess.run([dnheap, "explore", dump, "--top", "3"], capture_output=True, text=True)
    check(done.returncode == 2 and "does not take --top" in done.stderr, "options of answers")
    record = dump + ".json"
    subprocess.run([dnheap, "check", dump, "--record", record, "--no-instances-of", "Shop.Never"], check=True, stdout=subprocess.DEVNULL)
    older = json.loads(pathlib.Path(record).read_text())
    for row in older["tables"]["types"]:
        row["count"], row["bytes"] = row["count"] // 2, row["bytes"] // 2
    pathlib.Path(record).write_text(json.dumps(older))
    with Served(dnheap, dump, "--against", record) as page:
        check("diff" in [one["name"] for one in page.state()["verbs"]], "what grew can be asked")
        expected = json.loads(subprocess.run([dnheap, "diff", record, dump, "--format", "json", "--top", "200"], stdout=subprocess.PIPE).stdout)
        equal(page.json("api/ask/diff")["tables"], expected["tables"], "what grew")
        equal(page.get("api/ask/diff", subject="x")[0], 400, "diff takes no subject")
    with Served(dnheap, dump, "--against", __file__) as page:
        found, _, body = page.get("api/ask/diff")
        check(found == 500 and b"explore_check.py" in body, "an earlier dump that is none")
    with Served(dnheap, dump, "--values") as page:
        for row in verb(dnheap, dump, "objects", "--type-exact", "System.String", "--top", "50")["tables"]["objects"]:
            if page.json("api/object", at=row["address"])["value"]:
                break
        else:
            check(False, "--values tells contents")
        equal(page.get("api/ask/show", subject=row["address"], values=1)[0], 200, "show --values")


def check_full(dnheap, dump):
    """More connections than the program may have descriptors: they wait, without a word, and then it goes on."""
    with Served(dnheap, dump) as page:
        resource.prlimit(page.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        held = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(100)]
        time.sleep(1)
        for one in held:
            one.close()
        equal(page.get("api/state")[0], 200, "after more connections than descriptors")
        page.process.send_signal(signal.SIGINT)
        errors = page.process.communicate(timeout=120)[1]
        check(len(errors) < 2000, f"what is said of too many connections: {len(errors)} characters, {errors[:200]!r}")


def check_few_descriptors(dnheap, dump):
    """With few descriptors it answers, whatever others hold open; with fewer it says at start how many it needs."""
    for limit in (32, 24):
        few = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (limit, limit))
        with Served(dnheap, dump, preexec_fn=few) as page:
            held = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(limit + 10)]
            before = time.monotonic()
            equal(page.get("api/state")[0], 200, f"with {limit} descriptors, and more connections that ask nothing")
            check(time.monotonic() - before < 15, f"answered after {time.monotonic() - before} s")
            for one in held:
                one.close()
    for limit in (16, 9, 6):
        few = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (limit, limit))
        done = subprocess.run([dnheap, "explore", dump], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, preexec_fn=few)
        equal((done.returncode, done.stdout, done.stderr), (3, "", f"dnheap: explore needs 20 file descriptors besides the 3 that are open, but the limit is {limit}: ulimit -n 23\n"),
              f"with {limit} descriptors")
    # A limit that may be raised is.
    with Served(dnheap, dump, preexec_fn=functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (8, 64))) as page:
        equal(page.get("api/state")[0], 200, "with a limit that may be raised")


def main(dnheap, count=10000):
    dnheap = str(pathlib.Path(dnheap).resolve())
    with tempfile.TemporaryDirectory(prefix="dnheap-explore-") as folder:
        dump = str(pathlib.Path(folder, "demo.core"))
        subprocess.run(["zstd", "-qdo", dump, SAMPLE], check=True)
        with Served(dnheap, dump, wait=False) as page:
            stalled = socket.create_connection(("127.0.0.1", page.port))
            stalled.sendall(f"GET /{page.token}/api/state HTTP/1.1\r\nHost".encode())
            check_early(page, dnheap, dump)
            for part in (check_answers, check_tables, check_map, check_objects):
                part(page, dnheap, dump)
            check_privacy(page)
            check_clients(page, page.again)
            check_leavers(page)
            check_hostile(page, int(count))
            check_dropped(stalled)
            code, _ = page.end()
            equal(code, 0, "the end after all that")
        check_ends(dnheap, dump)
        check_full(dnheap, dump)
        check_few_descriptors(dnheap, dump)
    print("explore: ok" if not failures else f"explore: {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
