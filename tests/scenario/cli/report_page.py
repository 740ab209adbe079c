#!/usr/bin/env python3
"""What a page of hpotune report is made of, for tests/scenario/cli/report-html.t.

check FILE          the page is XML and HTML, of known elements alone, and all
                    that is drawn lies in its drawing; says what is wrong
text FILE           its text
rows FILE HEADING   the rows of the tables of a section, cells parted by |
count FILE CLASS    paths of this class
"""
import base64
import hashlib
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {
    HTML: "html head meta title style body main header section footer h1 h2 "
          "details summary h3 p dl dt dd div span table thead tbody tr th td script",
    SVG: "svg title path rect text",
}
ATTRIBUTES = ("data-axis data-max data-min data-scale data-trial data-trials "
              "data-values lang charset http-equiv name content class scope viewBox role "
              "aria-label aria-hidden preserveAspectRatio d x y width height")
NUMBER = r"-?\d+(?:\.\d+)?"


def known(element):
    space, name = re.match(r"(\{.*\})(.*)", element.tag).groups()
    if name not in ELEMENTS.get(space, "").split():
        yield f"an element {element.tag}"
    for key, value in element.attrib.items():
        if key not in ATTRIBUTES.split():
            yield f"an attribute {key}={value}"


def drawn(svg):
    _, _, width, height = map(float, svg.get("viewBox").split())
    if not svg.get("aria-hidden") and svg.find(SVG + "title") is None:
        yield "a drawing without a name"
    for e in svg.iter():
        for key in ("x", "y", "width", "height"):
            if key in e.attrib and not re.fullmatch(NUMBER, e.get(key)):
                yield f"{key} {e.get(key)}"
        d = e.get("d", "M0 0h0")
        if not re.fullmatch(rf"(?:[MmLlhvaz ]|{NUMBER})+", d):
            yield f"a path {d[:80]}"
        for x, y in re.findall(rf"[ML]({NUMBER}) ({NUMBER})", d):
            if not (-5 <= float(x) <= width + 5 and -5 <= float(y) <= height):
                yield f"a point {x} {y} outside of {width} x {height}"


class Html(HTMLParser):
    """HTML knows <name/> of a few elements only."""
    wrong = ()

    def handle_startendtag(self, tag, attrs):
        if tag not in ("meta", "path", "rect"):
            self.wrong += (f"<{tag}/>",)

    def handle_comment(self, data):
        if data.strip() != "report of hpotune":
            self.wrong += (f"a comment {data}",)


def check(page, root):
    html = Html()
    html.feed(page)
    wrong = list(html.wrong)
    for e in root.iter():
        wrong += known(e)
    for svg in root.iter(SVG + "svg"):
        wrong += drawn(svg)
    if "default-src 'none'" not in root.find(
            f".//{HTML}meta[@http-equiv]").get("content"):
        wrong.append("no policy")
    wrong += scripts(page, root)
    drawn_page = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    if re.search(r"https?://(?!www\.w3\.org/)|url\(|@import|<!\[CDATA",
                 drawn_page):
        wrong.append("something from elsewhere")
    return wrong


def scripts(page, root):
    """At most one, as HTML reads it, and its digest in the policy."""
    texts = re.findall(r"<script.*?>(.*?)</script>", page, flags=re.S)
    policy = root.find(f".//{HTML}meta[@http-equiv]").get("content")
    allowed = re.findall(r"'sha256-(.*?)'", policy)
    digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()
               for t in texts]
    if allowed != digests or len(texts) > 1:
        yield f"scripts {digests}, allowed {allowed}"
    for t in texts:
        if re.search(r"https?://|fetch\(|import\b|eval\(|innerHTML", t):
            yield "a script that loads something"


def section(root, heading):
    for s in root.iter(HTML + "section"):
        if s.find(HTML + "h2").text == heading:
            return s
    return ET.Element("none")


def main(what, path, more=""):
    page = open(path, encoding="utf-8", newline="").read()
    root = ET.fromstring(page)
    if what == "check":
        print("\n".join(check(page, root)))
    elif what == "text":
        print("\n".join(root.itertext()))
    elif what == "rows":
        for row in section(root, more).iter(HTML + "tr"):
            print("|".join("".join(c.itertext()).strip() for c in row))
    elif what == "count":
        print(sum(more in e.get("class", "").split()
                  for e in root.iter(SVG + "path")))


main(*sys.argv[1:])
