"""`dnheap explore` as a client sees it, for tests and measurements: the program is started, asked, and ended."""
import copy
import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse


class Served:
    """with Served(dnheap, "core") as page: page.json("api/state")"""

    def __init__(self, dnheap, *arguments, wait=True, environment=None, preexec_fn=None):
        own = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}  # no browser
        self.process = subprocess.Popen([dnheap, "explore", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**own, **(environment or {})}, preexec_fn=preexec_fn)
        self.url = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.url)
        if not found:
            raise SystemExit(f"no address, but {self.url!r}: {self.process.stderr.read()}")
        self.port, self.token = int(found[1]), found[2]
        self.connection = None
        if wait:
            self.wait_for("ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """Ctrl-C: the exit code, and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=120)
        return self.process.returncode, time.monotonic() - begin

    def again(self):
        """Another client of the same server, for another thread."""
        other = copy.copy(self)
        other.connection = None
        return other

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def get(self, path, headers=None, method="GET", **parameters):
        """Status, headers and body."""
        if parameters:
            path += "?" + urllib.parse.urlencode(parameters)
        if not path.startswith("/"):
            path = f"/{self.token}/{path}"
        for _ in range(2):  # the server may have closed a connection that was idle
            self.connection = self.connection or self.connect()
            try:
                self.connection.request(method, path, headers=headers or {})
                answer = self.connection.getresponse()
                return answer.status, answer.headers, answer.read()
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
        raise SystemExit(f"no answer to {path}")

    def json(self, path, **parameters):
        status, _, body = self.get(path, **parameters)
        if status != 200:
            raise SystemExit(f"{path} {parameters}: {status} {body[:300]!r}")
        return json.loads(body)

    def state(self):
        return self.json("api/state")

    def wait_for(self, stage, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if state["stage"] in (stage, "failed"):
                return state
            time.sleep(0.02)
        raise SystemExit(f"not {stage} after {seconds} s: {self.state()}")
