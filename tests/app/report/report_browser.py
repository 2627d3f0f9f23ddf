#!/usr/bin/env python3
# Opens pages of `report` in headless Chromium: no console message, no request but for the page, no violation of its policy; headers sort
# by click and by key; nothing is wider than a narrow window. Usage: report_browser.py PROGRAM SAMPLE_PROGRAM [FOLDER FOR SCREENSHOTS] [FILE.h5 …]
import base64, json, os, re, subprocess, sys

import checks
from browser import Browser, browser
from checks import check, paths, program

sample, shots, files = paths[0], paths[1] if len(paths) > 1 else None, paths[2:]
if not browser:
    print("skipped: no Chromium")
    sys.exit(77)


def screenshot(b, name, width, scheme, whole=True):
    b.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    wide = b.value("document.documentElement.scrollWidth")
    check(wide <= width, f"{name}: the page is {wide} wide in a window of {width}")
    paper = b.value("getComputedStyle(document.body).backgroundColor")
    check((sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark"), f"{name}: {scheme} is {paper}")
    if shots:
        png = b.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        open(os.path.join(shots, f"{name}-{scheme}-{width}.png"), "wb").write(base64.b64decode(png))


COLUMN = "[...document.querySelectorAll('table')].find(t => t.tBodies[0].rows.length > 1)"
ROWS = COLUMN + ".tBodies[0].rows"


def sorting(b, name):
    """The second column of the first table with several rows: up, down, as it was; n/a last; the name too."""
    if not b.value(f"Boolean({COLUMN})"):
        return
    heads = b.value(f"{COLUMN}.querySelectorAll('th[data-column]').length")
    names = f"[...{ROWS}].map(r => r.cells[0].textContent)"
    first = b.value(names)
    check(b.value(f"[...{COLUMN}.querySelectorAll('th[data-column]')].every(h => h.querySelector('button') && h.ariaSort === 'none')"),
          f"{name}: every header has a button")
    for column in range(heads):
        head = f"{COLUMN}.querySelector('th[data-column=\"{column}\"]')"
        for way in ("ascending", "descending", "none"):
            b.value(f"{head}.querySelector('button').click()")
            check(b.value(f"{head}.getAttribute('aria-sort')") == way, f"{name}: aria-sort of column {column} after a click")
            check(b.value(f"{COLUMN}.querySelectorAll('th:not([aria-sort=none])[data-column]').length") == (way != "none"), "one column sorts")
            shown = b.value(f"[...{ROWS}].map(r => [r.cells[{column}].dataset.value, r.cells[{column}].textContent])")
            if way == "none":
                check(b.value(names) == first, f"{name}: the third click restores the order")
            elif all(v is not None for v, _ in shown):
                numbers = [float(v) for v, _ in shown if v]
                check(numbers == sorted(numbers, reverse=way == "descending"), f"{name}: column {column} {way}: {numbers}")
                check(all(not v for v, _ in shown[len(numbers):]), f"{name}: n/a comes last")
            check(sorted(b.value(names)) == sorted(first), f"{name}: no row is lost")
    # by keyboard: the button of the second header has the focus, then Enter
    b.value(f"{COLUMN}.querySelector('th[data-column=\"1\"] button').focus()")
    for kind in ("keyDown", "keyUp"):
        b.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r" if kind == "keyDown" else "")
    check(b.value(f"{COLUMN}.querySelector('th[data-column=\"1\"]').getAttribute('aria-sort')") == "ascending", f"{name}: Enter sorts")
    for _ in range(2):
        b.value(f"{COLUMN}.querySelector('th[data-column=\"1\"] button').click()")


def look_at(b, path, name):
    b.open(path)
    sorting(b, name)
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            screenshot(b, name, width, scheme)
    b.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    screenshot(b, name + "-open", 400, "light")
    requests = [e["params"]["request"]["url"] for e in b.events if e.get("method") == "Network.requestWillBeSent"]
    loud = [e for e in b.events if e.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                                                        "Page.javascriptDialogOpening", "Audits.issueAdded")]
    others = [u for u in requests if u != "file://" + path and u != "data:,"]
    check(not others, f"{name}: requests {others}")
    check(not loud, f"{name}: messages {loud}")
    check(b.value("document.compatMode") == "CSS1Compat", f"{name}: standards mode")
    check(b.value("document.scripts.length") == 1 and b.value("document.images.length") == 0, f"{name}: one script, no image")
    check(b.value("document.querySelectorAll('[style],[onerror],[onclick]').length") == 0, f"{name}: no style or event in an attribute")


subprocess.run([sample, "sample.h5"], check=True, stdout=subprocess.DEVNULL)
subprocess.run([sample, "hostile.h5", "texts"], check=True, stdout=subprocess.DEVNULL)
b = Browser()
b.page("Page", "Runtime", "Log", "Network", "Audits")
for path in ["sample.h5", "hostile.h5", *files]:
    name = os.path.basename(path)[:-3]
    subprocess.run([program, "report", path, "-o", name + ".html"], check=True, stderr=subprocess.DEVNULL)
    look_at(b, os.path.realpath(name + ".html"), name)

# does this script see a violation at all? A page whose script was changed after its hash was taken does nothing, and says so
text = open("sample.html").read()
open("changed.html", "w").write(text.replace('"use strict";', '"use strict"; document.title = "ran";'))
b.open(os.path.realpath("changed.html"))
check(b.value("document.title") == "sample", "a changed script does not run")
check(any("Content Security Policy" in json.dumps(e) for e in b.events if e.get("method") == "Log.entryAdded"), "a violation is seen")
b.close()
print("with", browser)
checks.finish()
