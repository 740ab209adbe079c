#!/usr/bin/env python3
"""A user with a mouse, for tests/scenario/web/browser.t.

browser.py ADDRESS [FOLDER]: the address that hpotune web printed, of a study
"run" whose trial 1 runs.  Prints "+ WHAT" or "- WHAT: what was seen instead",
and writes screenshots into FOLDER.
"""
import json
import os
import re
import sys

from devtools import Browser

SIZES = (("wide", 1400, 900), ("tablet", 800, 1000), ("phone", 390, 800))


def check(good, what, seen=""):
    print(f"+ {what}" if good else f"- {what}: {seen}", flush=True)

# Pixels of the smallest text of charts; cells of tables beyond the right edge.
LEAST_TEXT = """Math.min(99, ...[...document.querySelectorAll('main svg text')]
    .map(t => parseFloat(getComputedStyle(t).fontSize) *
        t.ownerSVGElement.getScreenCTM().a))"""
NARROW_CELLS = """[...document.querySelectorAll('td')].filter(td => {
    const r = document.createRange();
    r.selectNodeContents(td);
    const lines = new Set([...r.getClientRects()].map(c => Math.round(c.top)));
    return lines.size > 3 && !td.querySelector('progress') &&
        td.innerText.length < 25 * (lines.size - 1);
}).length"""
HIDDEN_CELLS = """[...document.querySelectorAll('main td')].filter(
    c => c.getBoundingClientRect().right > innerWidth).length"""


class User:
    def __init__(self, b, site, folder):
        self.b, self.site, self.folder = b, site, folder

    def go(self, path):
        """A page that a busy machine has cut off is loaded again, as web_client.py
        asks for it."""
        for _ in range(3):
            self.b.go(self.site + path)
            if not self.b.js("document.querySelector('.trouble')?.textContent"
                             ".includes('did not answer within')"):
                break

    def middle(self, selector):
        """Of an element, which is scrolled to.  Nothing moves until a button
        is pressed and released."""
        self.b.until("true")
        return self.b.js(f"""(() => {{
            document.body.dispatchEvent(new Event("pointerdown"));
            const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{ block: "center" }});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")

    def arriving(self):
        b = self.b
        host = self.site.rsplit("/", 1)[0]
        # As of an older hpotune web, whose token followed a #.
        b.go(host + "/#" + self.site.rsplit("/", 1)[1])
        check("Open the address that hpotune web printed" in
              b.js("document.body.innerText"),
              "an old bookmark says what to do", b.js("document.body.innerText"))
        self.go("")
        check(b.until("!!document.querySelector('#part-studies a')") and
              b.js("location.pathname").endswith("/"),
              "the address leads to the list", b.js("location.href"))
        b("Page.reload")
        check(b.until("!!document.querySelector('#part-studies a')"),
              "and again when it is loaded again")
        b.js("document.querySelector('#part-studies a').click()")
        check(b.until("!!document.querySelector('#part-head')"),
              "which leads to a study", b.js("location.href"))
        b.js("document.querySelector('nav a').click()")
        check(b.until("!!document.querySelector('#part-studies a')") and
              b.js("location.href") == self.site + "/",
              "and back", b.js("location.href"))

    def silent(self):
        """Neither a cookie nor a Referer, of all requests that were sent."""
        b = self.b
        check(b("Network.getAllCookies")["cookies"] == [], "no cookie is set")
        sent = [e["params"]["request"] for e in b.events
                if e.get("method") == "Network.requestWillBeSent"]
        # As they are on the wire.
        wire = [e["params"]["headers"] for e in b.events
                if e.get("method") == "Network.requestWillBeSentExtraInfo"]
        told = [h for h in wire if {"referer", "cookie"} & set(map(str.lower, h))]
        check(wire and not told, "no request names the page it is of", told[:3])
        away = [r["url"] for r in sent if not r["url"].startswith(
            (self.site, "data:", "file:", "about:"))]
        check(not away, "no request leaves the pages", away[:3])

    def pointing(self):
        b = self.b
        self.go("/s/run")
        check(b.until("document.querySelector('.live').textContent === 'live'"),
              "the page says that it is live",
              b.js("document.querySelector('.live').textContent"))
        trial = b.until("""[...document.querySelectorAll(
            '#part-history path.dot')].find(p => p.dataset.trial > 1)
            ?.dataset.trial""")
        x, y = self.middle(f'#part-history path.dot[data-trial="{trial}"]')
        b.mouse("mouseMoved", x - 60, y + 60)
        b.mouse("mouseMoved", x, y)
        tip = "document.getElementById('tip').textContent"
        check(re.match(rf"trial {trial}, completed: acc .*\n.*x=",
                       b.until(f"/x=/.test({tip}) && {tip}") or ""),
              "a mark names its trial", b.js(tip))
        check(b.js(f"document.querySelectorAll('tr[data-trial=\"{trial}\"].hot,"
                   " path.hot').length") >= 2,
              "which is marked in the table and in curves")
        b.click(x, y)
        check(b.until(f"location.href === '{self.site}/s/run/trial/{trial}'"),
              "a click leads to its page", b.js("location.href"))

    def pressing(self):
        """A part that comes while a button is down waits for the click."""
        b = self.b
        script = b("Page.addScriptToEvaluateOnNewDocument", source="""
            window.sources = [];
            window.EventSource = class extends EventSource {
                constructor(address) { super(address); sources.push(this); }
            };""")["identifier"]
        self.go("/s/run")
        b.until("window.sources?.length === 1")
        x, y = self.middle("#part-history h2")
        # A part that the server never sends.
        b.js("""document.addEventListener("click", event =>
            window.clicked = event.target.textContent);
            document.body.insertAdjacentHTML("beforeend",
                "<div id=part-own></div>")""")
        title = b.js("document.querySelector('#part-history h2').textContent")
        b.mouse("mouseMoved", x, y)
        b.mouse("mousePressed", x, y, button="left", clickCount=1)
        b.js("""sources[0].dispatchEvent(new MessageEvent("part", { data:
            JSON.stringify({ name: "own", html: "<p id=late>new" }) }))""")
        check(b.js("!document.querySelector('#late')"),
              "nothing is replaced under a pressed button")
        b.mouse("mouseReleased", x, y, button="left", clickCount=1)
        check(b.until("window.clicked") == title, "the click is not lost",
              b.js("window.clicked"))
        check(b.until("!!document.querySelector('#late')"),
              "and then the new part is shown")
        hide = """Object.defineProperty(document, "hidden",
            { value: %s, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"))"""
        b.js(hide % "true")
        check(b.js("sources[0].readyState") == 2,
              "a page in the background holds no connection",
              b.js("sources[0].readyState"))
        before = b.js("document.querySelector('#part-curves').innerHTML")
        b.js(hide % "false")
        check(b.until("sources.length === 2 && sources[1].readyState === 1"),
              "which it opens again", b.js("sources.length"))
        check(b.until("document.querySelector('#part-curves').innerHTML !== "
                      + json.dumps(before)), "and follows the study again")
        b("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def choosing(self):
        b = self.b
        self.go("/s/run?where=state=completed")
        for i in (1, 2):
            b.click(*self.middle(f"#trials tbody tr:nth-child({i}) td:nth-child(2)"),
                    modifiers=8)
        check(b.until("/trial=\\d+&trial=\\d+$/.test("
                      "document.querySelector('#chosen')?.href)"),
              "Shift and click choose trials", b.js(
                  "document.querySelector('nav').innerText"))
        b.js("document.querySelector('#chosen').click()")
        check(b.until("document.querySelectorAll('tr.differs').length > 0"),
              "which are compared", b.js("location.href"))

    def brush(self, axis, high, low):
        """Drags along an axis, between shares of its height from the top."""
        x, top, height = self.b.until(f"""(() => {{
            const s = document.querySelector('.parallel svg');
            if (!s || document.readyState !== 'complete') return null;
            s.scrollIntoView({{ block: 'center' }});
            const a = s.querySelector('path.axis[data-axis={axis}]');
            const r = a.getBoundingClientRect();
            return [r.x + r.width / 2, r.y, r.height]; }})()""")
        self.b.drag(x, top + high * height, top + low * height)

    def brushing(self):
        b = self.b
        self.go("/s/run")
        self.brush("x", 0.1, 0.5)
        out = b.js("document.querySelectorAll('.parallel path.out').length")
        check(out > 0, "dragging along an axis selects lines", out)
        low, high = map(float, (b.js("new URLSearchParams(location.search)"
                                     ".get('brush.x')") or "0..0").split(".."))
        check(0.49 < low < 0.51 and 0.89 < high < 0.91,
              "which the address says in values", b.js("location.href"))
        lines = """document.querySelectorAll('.parallel path.out').length + ' ' +
            document.querySelector('.brushed').textContent"""
        seen = b.js(lines)
        b.click(*self.middle("#trials th:nth-child(2) a"))
        check(b.until("/sort=/.test(location.search) && "
                      "document.readyState === 'complete'") and b.js(lines) == seen,
              "the brush stays when the table is sorted", b.js("location.href"))
        # A new page, whose form was written without a brush.
        self.go("/s/run")
        self.brush("x", 0.1, 0.5)
        seen = b.js(lines)
        b.js("""document.querySelector('input[name=where]').value = 'x > 0';
            document.querySelector('input[name=where]').form.requestSubmit()""")
        check(b.until("/where=x/.test(location.search) && "
                      "document.readyState === 'complete'") and b.js(lines) == seen,
              "and when it is filtered", b.js("location.href"))
        self.go("/s/run" + b.js("location.search"))
        check(b.until("!!document.querySelector('.parallel rect.brush')") and
              b.js(lines) == seen, "a link shows the same", (b.js(lines), seen))
        self.brush("opt", 0.1, 0.4)
        values = b.js("""[document.querySelector('.brushed').textContent,
            new URLSearchParams(location.search).get('brush.opt'),
            document.querySelector('.brushed a').href]""")
        check(values[1] and "adam" in values[2] and "sgd" not in values[2],
              "choices are selected, too", values)
        self.go("/s/run?brush.x=no&brush.opt=2..1&brush.=1..2")
        b.until("!!document.querySelector('.parallel svg')")
        check(b.js("document.querySelectorAll('path.out, rect.brush').length")
              == 0, "an address that makes no sense selects nothing")
        self.go("/s/run")
        self.brush("x", 0.1, 0.5)
        link = b.js("document.querySelector('.brushed a')?.href") or ""
        check("where=" in link, "and offers their table", link)
        b.click(*self.middle(".brushed a"))
        check(b.until("/where=/.test(location.search) && document.readyState "
                      "=== 'complete'"), "which is shown")
        values = b.js("""[...document.querySelectorAll('#trials tbody tr')].map(
            r => +r.cells[7].textContent)""")
        check(values and all(0.45 <= v <= 0.95 for v in values),
              "with these trials alone", values)
        self.go("/s/run")
        self.brush("x", 0.1, 0.5)
        b.key("Escape", 27)
        check(b.js("document.querySelectorAll('path.out').length") == 0 and
              b.js("location.search") == "", "Escape removes the selection",
              b.js("location.search"))
        b.go("file://" + os.path.abspath("run.html"))
        self.brush("x", 0.1, 0.5)
        check(b.js("document.querySelectorAll('.parallel path.out').length") > 0
              and "brush.x=" in b.js("location.search"),
              "a report is brushed, and says so in its address",
              b.js("location.href"))

    def zooming(self):
        b = self.b
        self.go("/s/run?sort=x")
        box = b.until("""(() => {
            const s = document.querySelector('#part-history svg[data-zoom]');
            if (!s) return null;
            s.scrollIntoView({ block: 'center' });
            const r = s.getBoundingClientRect();
            return [r.x, r.y, r.width, r.height]; })()""")
        at = lambda u, v: (box[0] + u * box[2], box[1] + v * box[3])
        ticks = """[...document.querySelectorAll('#part-history text.xt')].map(
            t => +t.textContent)"""
        b.pull(*at(0.3, 0.5), *at(0.6, 0.5))
        check(b.until("/history.x=/.test(location.search)"),
              "dragging over a chart zooms into it", b.js("location.href"))
        check(b.until("document.readyState === 'complete'") and
              "sort=x" in b.js("location.search") and
              "history.y" not in b.js("location.search"),
              "the rest of the address stays", b.js("location.href"))
        low, high = map(float, b.js("new URLSearchParams(location.search)"
                                    ".get('history.x')").split(".."))
        check(4 < low < 7 < 12 < high < 14, "to what was dragged over",
              (low, high))
        seen = b.until(f"{ticks}.length > 1 && {ticks}")
        check(seen and all(low <= t <= high for t in seen),
              "which the chart shows", seen)
        check(b.js("document.querySelector('details.zoom[open] input"
                   "[name=\"history.x\"]').value") == f"{low:g}..{high:g}",
              "and its form says")
        mark = b.until("""(() => {
            const p = document.querySelector('#part-history path.dot');
            if (!p) return null;
            const r = p.getBoundingClientRect();
            return [r.x, r.y, p.dataset.trial]; })()""")
        check(mark and low <= float(mark[2]) <= high,
              "marks are those of the range", mark)
        b.click(*self.middle("details.zoom[open] a"))
        check(b.until("location.search === '?sort=x' && "
                      "document.readyState === 'complete'"),
              "a link shows the whole range again", b.js("location.href"))
        # The parts of a page come after it.
        b.until("""document.querySelector(
            'details.zoom:has(input[name="slice.x.x"])') !== null""")
        b.js("""(() => { const f = document.querySelector(
            'details.zoom:has(input[name="slice.x.x"])'); f.open = true;
            f.querySelector('input[name="slice.x.x"]').value = '0.25..0.75';
            f.querySelector('button').click(); })()""")
        check(b.until("/slice.x.x=0.25..0.75/.test(location.search)"),
              "the form zooms a slice", b.js("location.href"))
        values = b.until("""(() => { const s = document.querySelector(
            '#part-importance svg[data-zoom="slice.x"]');
            return s && [...s.querySelectorAll('text.xt')].map(
                t => +t.textContent); })()""")
        check(values and min(values) >= 0.25 and max(values) <= 0.75,
              "whose axis is the range", values)
        heading = """[...document.querySelectorAll('#part-importance h2')]
            .at(-1)?.textContent"""
        b.until("""document.querySelector(
            'details.zoom:has([name="map.x"])') !== null""")
        b.js("""(() => { const f = document.querySelector(
            'details.zoom:has([name="map.x"])'); f.open = true;
            f.querySelector('[name="map.x"]').value = 'opt';
            f.querySelector('[name="map.y"]').value = 'x';
            f.querySelector('button').click(); })()""")
        check(b.until("/slice.x.x=.*map.x=opt&map.y=x/.test(location.search)")
              and b.until(f"{heading} === 'opt and x'"),
              "two parameters are chosen for the map", b.js("location.href"))
        self.go("/s/run?curves.x=2..4&curves.x=9..1&history.y=no")
        check(b.until("!!document.querySelector('#part-curves clipPath')"),
              "a link shows the same range")
        b.until("document.querySelector('.live').textContent === 'live'")
        curves = b.js("document.querySelector('#part-trials, #trials')"
                      ".innerHTML")
        check(b.until("document.querySelector('#trials').innerHTML !== "
                      + json.dumps(curves)) and
              b.js("!!document.querySelector('#part-curves clipPath')"),
              "and keeps it while the study goes on")

    def table(self):
        b = self.b
        self.go("/s/run")
        b.key("/", 191)
        check(b.js("document.activeElement.name") == "where",
              "/ leads to the filter", b.js("document.activeElement.outerHTML"))
        b.type("state = completed and x > 0.5")
        b.key("Enter", 13)
        check(b.until("/where=state/.test(location.search) && "
                      "document.querySelectorAll('#trials tbody tr').length > 0"),
              "words filter the table", b.js("location.href"))
        b.click(*self.middle("#trials th:nth-child(3) a"))
        check(b.until("!!document.querySelector('th[aria-sort=descending]') && "
                      "/where=state/.test(location.search)"),
              "a heading sorts it, and the filter stays", b.js("location.href"))
        values = b.js("[...document.querySelectorAll('#trials tbody tr')].map("
                      "r => +r.cells[2].textContent)")
        check(values == sorted(values, reverse=True), "downwards", values)
        b.click(*self.middle("#trials th:nth-child(3) a"))
        check(b.until("!!document.querySelector('th[aria-sort=ascending]')"),
              "and upwards", b.js("location.href"))
        self.go("/s/run?where=x+%3E+0.5")
        b.js("""(() => { const f = document.querySelector('.columns');
            f.open = true;
            for (const c of f.querySelectorAll('input[type=checkbox]'))
                c.checked = ['opt', 'reports'].includes(c.value);
            f.querySelector('button').click(); })()""")
        check(b.until("""/column=reports&column=opt$/.test(location.search) &&
            document.readyState === 'complete'"""),
              "columns are chosen", b.js("location.href"))
        check(b.js("[...document.querySelectorAll('#trials th')].map("
                   "h => h.textContent.trim()).join(' ')")
              == "trial ▾ reports opt" and
              b.js("document.querySelector('#trials tbody tr').cells[2]"
                   ".textContent") in ("sgd", "adam"),
              "and shown, of the trials of the filter",
              b.js("document.querySelector('#trials table').innerText")[:200])
        b.click(*self.middle(".columns a"))
        check(b.until("location.search === '?where=x+%3E+0.5' || "
                      "location.search === '?where=x%20%3e%200.5'"),
              "a link shows the usual ones", b.js("location.href"))
        self.go("/s/run")
        for trial in 3, 5:
            b.click(*self.middle(f"input[name=trial][value='{trial}']"))
        before = b.js("document.querySelector('#trials tbody').innerHTML")
        b.until("document.querySelector('#trials tbody').innerHTML !== "
                + json.dumps(before))
        b.click(*self.middle("#side button"))
        check(b.until("location.href === "
                      f"'{self.site}/s/run/trials?trial=5&trial=3' && "
                      "document.querySelectorAll('#part-side path.study, "
                      "#part-side .study').length > 1"),
              "marked trials are compared, also after the table was replaced",
              b.js("location.href"))
        self.go("/s/run/trials?trial=1&trial=2")
        side = b.js("document.querySelector('#part-side').innerHTML")
        check(b.until("document.querySelector('#part-side').innerHTML !== "
                      + json.dumps(side)), "which is followed")
        self.go("/s/run?where=stat=x")
        check("did you mean state" in (b.js(
            "document.querySelector('.trouble')?.textContent") or ""),
              "a wrong filter says what is wrong")

    def live(self):
        b = self.b
        self.go("/s/run/trial/1")
        log = "document.querySelector('pre.log').textContent"
        first = b.until(f"/step=/.test({log}) && {log}.length")
        check(b.until(f"{log}.length > {first}"), "a log is followed", first)
        check(b.until("/Seconds\\s+[1-9]/.test(document.querySelector("
                      "'#part-trial').innerText)"),
              "a trial that runs has the seconds since its start",
              b.js("document.querySelector('#part-trial').innerText")[:200])
        step = b.js("document.querySelector('#part-trial').innerText")
        check(b.until("document.querySelector('#part-trial').innerText !== "
                      + json.dumps(step)), "the trial's page is updated")
        self.go("/s/run")
        b.until("document.querySelector('.live').textContent === 'live'")
        curves = b.js("document.querySelector('#part-curves').innerHTML")
        check(b.until("document.querySelector('#part-curves').innerHTML !== "
                      + json.dumps(curves)), "a curve grows on the page")

    def reading(self):
        """What a screen reader, a keyboard and a printer get."""
        b = self.b
        self.go("/s/run")
        b.until("document.querySelector('.live').textContent === 'live'")
        check(b.js("""[...document.querySelectorAll('svg')].every(s =>
            s.getAttribute('aria-hidden') === 'true' ||
            s.getAttribute('role') === 'img' && s.getAttribute('aria-label')
        )"""), "each chart has a role and a name, or is decoration")
        check(b.js("""[...document.querySelectorAll('input:not([type=hidden])')
            ].every(i => i.getAttribute('aria-label') || i.closest('label'))
        """), "each field has a name")
        check(b.js("""[...document.querySelectorAll('th')].every(
            h => h.scope)"""), "each head of a table has its scope")
        check(b.js("""['nav:not(.contents)', 'nav.contents', 'main', 'h1'].every(
            s => document.querySelectorAll(s).length === 1) &&
            document.documentElement.lang === 'en'"""),
              "the page has one heading, one way to it, one list of its "
              "contents, one content")
        summary = "#part-curves details.values summary"
        b.js(f"document.querySelector('{summary}').focus()")
        b.key("Enter", 13)
        rows = "document.querySelectorAll('#part-curves .values[open] " \
            "tbody tr').length"
        check(b.until(rows) == 22, "a key opens the curves as a table",
              b.js(rows))
        curves = b.js("document.querySelector('#part-curves').innerText")
        check(b.until("document.querySelector('#part-curves').innerText !== "
                      + json.dumps(curves)) and b.js(rows) == 22,
              "which stays open when it changes", b.js(rows))
        b("Emulation.setEmulatedMedia", media="print")
        check(b.js("""['nav', '.buttons', '.filter', '.zoom'].every(s =>
            getComputedStyle(document.querySelector(s)).display === 'none')"""),
              "paper has no buttons")
        b("Emulation.setEmulatedMedia", media="")
        self.go("/s/run?" + "&".join("column=" + c for c in (
            "state objective step seconds attempts started why reports backend "
            "ended cost gpu_seconds note tags forgotten x opt").split()))
        b.size(720, 900)
        b("Emulation.setEmulatedMedia", media="print")
        check(b.js("document.documentElement.scrollWidth") <= 720,
              "and no table beyond its edge",
              b.js("document.documentElement.scrollWidth"))
        b.size(1400, 900)
        b("Emulation.setEmulatedMedia", media="")
        self.go("/s/run")
        b.js("document.querySelector('#part-head a').focus()")
        head = b.js("document.querySelector('#part-head').innerHTML")
        check(b.until("document.querySelector('#part-head').innerHTML !== "
                      + json.dumps(head)) and
              b.js("document.activeElement === "
                   "document.querySelector('#part-head a')"),
              "what is drawn anew keeps the focus",
              b.js("document.activeElement.outerHTML")[:80])
        self.go("/s/run")
        seen = set()
        faint = []
        for _ in range(400):
            b.key("Tab", 9)
            if not b.js("""(() => { const s = getComputedStyle(
                    document.activeElement); return s.outlineStyle !== 'none'
                    && parseFloat(s.outlineWidth) >= 2; })()"""):
                faint.append(b.js("document.activeElement.outerHTML")[:80])
            at = b.js("""(() => { const e = document.activeElement;
                return e.closest('#trials tbody') ? 'row'
                    : e.dataset.do || e.dataset.words || e.name ||
                    e.tagName; })()""")
            seen.add(at)
            if {"row", "SUMMARY"} <= seen:
                break
        check(not faint, "what has the focus has an outline", faint)
        check({"pause", "enqueue", "SUMMARY", "where", "row"} <= seen,
              "Tab reaches buttons, tables of charts, filter and trials", seen)

    def listing(self):
        b = self.b
        self.go("/s/run")
        b.click(*self.middle("input[data-words=note]"))
        b.type("of Monday")
        b.click(*self.middle("button[data-do=note]"))
        tip = "document.getElementById('tip').textContent"
        check(b.until(f"/saved/.test({tip})"), "a note is saved", b.js(tip))
        self.go("/")
        note = "document.querySelector('#part-studies .note')?.textContent"
        check(b.js(note) == "of Monday", "and stands in the list", b.js(note))
        self.go("/s/run")
        b.click(*self.middle("button[data-do=archive]"))
        check(b.until("!!document.querySelector('button[data-do=restore]')"),
              "a study is archived", b.js("location.href"))
        self.go("/")
        check(b.js("!document.querySelector('#part-studies a[href*=\"s/\"]')"),
              "and is no more in the list")
        b.js("document.querySelector('#part-studies a').click()")
        check(b.until("!!document.querySelector("
                      "'#part-studies a[href=\"./s/run\"]')"),
              "but behind its link", b.js("location.href"))
        self.go("/s/run")
        b.click(*self.middle("button[data-do=restore]"))
        check(b.until("!!document.querySelector('button[data-do=archive]')"),
              "and brought back", b.js("location.href"))

    def stop(self):
        b = self.b
        self.go("/s/run/trial/1")
        b.js("window.confirm = () => true")
        b.click(*self.middle("button[data-do=stop]"))
        check(b.until("/cancelled/.test(document.querySelector('#part-trial')"
                      ".innerText)"), "the button stops the trial",
              b.js("document.body.innerText")[:300])

    def looks(self):
        b = self.b
        pages = (("studies", "/"), ("study", "/s/run"),
                 ("trial", "/s/run/trial/2"),
                 ("trials", "/s/run/trials?trial=2&trial=3"),
                 ("compare", "/compare?study=run"))
        for dark in False, True:
            for size, width, height in SIZES[:1] if dark else SIZES:
                b.size(width, height, dark, size == "phone")
                for name, path in pages:
                    self.go(path)
                    check(b.js("document.documentElement.scrollWidth") <= width,
                          f"{name}: {size}: nothing is beyond the right edge",
                          b.js("document.documentElement.scrollWidth"))
                    least = b.js(LEAST_TEXT)
                    check(least >= 8, f"{name}: {size}: text of charts can be "
                          "read", least)
                    hidden = b.js(HIDDEN_CELLS)
                    check(name != "studies" or hidden == 0,
                          f"{name}: {size}: no column is out of sight", hidden)
                    if size == "phone":
                        narrow = b.js(NARROW_CELLS)
                        check(narrow == 0, f"{name}: no text is squeezed into "
                              "lines of a few letters", narrow)
                    if dark:
                        check(self.contrast() >= 4.5, f"{name}: dark is readable",
                              self.contrast())
                    if self.folder:
                        b.shot(f"{self.folder}/{name}-{size}"
                               f"{'-dark' if dark else ''}.png")

    def contrast(self):
        """The least ratio of luminances of text and its background (WCAG)."""
        return self.b.js("""(() => {
            const lum = c => c.map(v => (v /= 255) <= 0.03928 ? v / 12.92
                : ((v + 0.055) / 1.055) ** 2.4).reduce(
                (s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
            const parse = s => s.match(/[\\d.]+/g).map(Number);
            const back = e => { for (; e; e = e.parentElement) {
                const c = parse(getComputedStyle(e).backgroundColor);
                if (c.length < 4 || c[3] > 0.5) return c.slice(0, 3); }
                return [255, 255, 255]; };
            let least = 21;
            const walk = document.createTreeWalker(document.body, 4);
            for (let n; (n = walk.nextNode());) {
                const e = n.parentElement;
                if (!n.data.trim() || !e.getClientRects().length ||
                    getComputedStyle(e).visibility === 'hidden' ||
                    e.closest('title')) continue;
                const style = getComputedStyle(e);
                const ink = lum(parse(e.closest('svg') ? style.fill
                    : style.color).slice(0, 3));
                const paper = lum(back(e.closest('svg')?.parentElement || e));
                least = Math.min(least, (Math.max(ink, paper) + 0.05) /
                    (Math.min(ink, paper) + 0.05));
            }
            return least; })()""")


def main(address, folder=None):
    site = address.rstrip("/")
    b = Browser()
    try:
        user = User(b, site, folder)
        b.size(1400, 900)
        user.arriving()
        # What an old bookmark leads to is an answer 403, which the console shows.
        b.events.clear()
        user.pointing()
        user.pressing()
        user.choosing()
        user.brushing()
        user.zooming()
        user.table()
        user.live()
        user.reading()
        user.listing()
        user.looks()
        b.size(1400, 900)
        user.stop()
        user.silent()
        check(not b.complaints(), "the console is silent", b.complaints())
    finally:
        b.close()


main(*sys.argv[1:])
