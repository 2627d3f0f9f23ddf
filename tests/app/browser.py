# Headless Chromium by its DevTools protocol, for tests of pages. browser: its path, or None.
import json, os, shutil, subprocess

browser = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)


class Browser:
    """The DevTools protocol over two pipes: one JSON object after the other, NUL between them."""

    def __init__(self, folder="."):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def wire():
            os.dup2(to_read, 3)
            os.dup2(from_write, 4)

        for fd in (to_read, from_write):
            os.set_inheritable(fd, True)
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--user-data-dir=" + os.path.join(os.path.abspath(folder), "profile")]
        self.process = subprocess.Popen([browser, *flags, "about:blank"], preexec_fn=wire, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.to, self.answers = os.fdopen(to_write, "wb"), os.fdopen(from_read, "rb")
        self.rest, self.number, self.session, self.events = b"", 0, None, []

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers.fileno(), 1 << 16)
            if not more:
                raise SystemExit("the browser has gone")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        self.to.write(json.dumps(request).encode() + b"\0")
        self.to.flush()
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.message())

    def value(self, script):
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise SystemExit(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        self.wait("Page.loadEventFired")

    def page(self, *domains):
        """Opens a tab, whose events of these domains are kept."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in domains:
            self.call(domain + ".enable")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(30)
