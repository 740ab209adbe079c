#!/usr/bin/env python3
"""Measures C source: sizes of files and functions, interfaces, call cycles.

    build-aux/code-measures.py NAME=PATH[,PATH...]...
    build-aux/code-measures.py --list one-caller|no-caller|cycles NAME=PATH...
    build-aux/code-measures.py --list STRUCT NAME=PATH...

Without arguments: the product of this repository, folder by folder.  Each
NAME is a row of the tables; its folders and files are one program.  --list
prints what a number counts, for the first NAME; for a struct, how many fields
it has, how many files use them, and how many fields two or more files assign
(through a variable that is declared as a pointer to it, at the first level).

Definitions:

lines      of .c files, blank lines and comments included
functions  definitions in .c files outside of preprocessor lines; lines from
           the name to the closing brace, arguments as written
comments   share of the lines of .c and .h files on which nothing else stands
public     not static, and not main; per thousand lines of .c files
one caller public functions whose names stand in exactly one other .c file
cycle      a file calls another when it has the name of one of its public
           functions outside of comments and strings; a cycle is a strongly
           connected set of at least two files.  A name that several files
           define (variants for systems) belongs to none.
include    cycles of #include "..." between headers, and between folders:
           how many, and the size of the largest

tests/repo/house.t limits the cycles and the folders, for each build.
"""

import os
import re
import sys

PRODUCT = ["src", "strategies", "trials", "kernels"]
NOT_C = {"if", "for", "while", "switch", "return", "sizeof", "defined"}
TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'
                  r"'(?:[^'\\\n]|\\.)*'", re.S)
WORD = re.compile(r"[A-Za-z_]\w*")


def blanked(match):
    """The newlines of a comment or a literal, so that lines keep numbers."""
    text = match.group(0)
    return "\n" * text.count("\n") if text[0] == "/" else '""'


def comment_lines(text):
    """Lines on which a comment stands and nothing else."""
    marked = TEXT.sub(
        lambda m: re.sub(r"[^\n]+", "\x01", m.group(0))
        if m.group(0)[0] == "/" else '""', text)
    return sum(1 for line in marked.split("\n")
               if "\x01" in line and not line.strip().strip("\x01").strip())


def code_of(text):
    """Without comments, contents of strings and preprocessor lines."""
    text = TEXT.sub(blanked, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                  lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M)


def head_of(head):
    """(name, argument count) of a function's head, or None."""
    match = re.search(r"([A-Za-z_]\w*)\s*\(", head)
    while match and match.group(1) in {"__attribute__", "_Noreturn",
                                       "__attribute", "typeof"}:
        match = re.compile(r"([A-Za-z_]\w*)\s*\(").search(head, match.end())
    if not match or match.group(1) in NOT_C or "=" in head[:match.start()]:
        return None
    depth, arguments, text = 0, 1, ""
    for c in head[match.end() - 1:]:
        depth += c in "(["
        depth -= c in ")]"
        if depth == 0:
            break
        if depth == 1 and c == ",":
            arguments += 1
        text += c
    inside = text[1:].strip()
    return match.group(1), 0 if inside in ("", "void") else arguments


def functions_of(code):
    """[(name, is static, lines, arguments)] of the definitions."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r"[{};]", code):
        c, at = match.group(0), match.start()
        if c == "{":
            if depth == 0:
                head = code[start:at]
                opened, first = at, head_of(head) if ")" in head and \
                    not re.search(r"\b(struct|union|enum)\s+\w*\s*$",
                                  head) else None
            depth += 1
        elif c == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                if first:
                    name, arguments = first
                    where = start + re.search(r"\b%s\s*\(" % name,
                                              head).start()
                    found.append((name, bool(re.search(r"\bstatic\b", head)),
                                  code.count("\n", where, at) + 1, arguments))
                start, first = at + 1, None
        elif depth == 0:
            start = at + 1
    return found


def part(sorted_list, share):
    if not sorted_list:
        return 0
    return sorted_list[min(len(sorted_list) - 1,
                           int(share * len(sorted_list)))]


def components(edges):
    """Strongly connected sets of at least two nodes (Tarjan 1972)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            v, rest = work[-1]
            w = next(rest, None)
            if w is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    at = stack.index(v)
                    if len(stack) - at > 1:
                        found.append(sorted(stack[at:]))
                    on -= set(stack[at:])
                    del stack[at:]
            elif w not in index:
                index[w] = low[w] = len(index)
                stack.append(w)
                on.add(w)
                work.append((w, iter(sorted(edges.get(w, ())))))
            elif w in on:
                low[v] = min(low[v], index[w])
    return sorted(found, key=len, reverse=True)


class Program:
    def __init__(self, name, folders):
        self.name = name
        self.c, self.h, self.other = [], [], []
        for folder in folders:
            if os.path.isfile(folder):
                (self.h if folder.endswith(".h") else self.c).append(folder)
            for place, _, files in os.walk(folder):
                for f in sorted(files):
                    path = os.path.join(place, f)
                    {".c": self.c, ".h": self.h}.get(
                        os.path.splitext(f)[1], self.other).append(path)
        self.texts = {p: open(p, errors="replace").read()
                      for p in self.c + self.h}
        self.code = {p: code_of(t) for p, t in self.texts.items()}
        self.lines = {p: t.count("\n") for p, t in self.texts.items()}
        self.functions = {p: functions_of(self.code[p]) for p in self.c}
        self.words = {p: set(WORD.findall(self.code[p])) for p in self.c}

    def interfaces(self):
        owner, twice = {}, set()
        for p in self.c:
            for name, static, _, _ in self.functions[p]:
                if not static and name != "main":
                    (twice.add(name) if owner.get(name, p) != p else
                     owner.setdefault(name, p))
        public = sum(1 for p in self.c for f in self.functions[p]
                     if not f[1] and f[0] != "main")
        users = {name: {p for p in self.c if p != at and name in self.words[p]}
                 for name, at in owner.items() if name not in twice}
        edges = {p: set() for p in self.c}
        for name, files in users.items():
            for p in files:
                edges[p].add(owner[name])
        return public, owner, users, edges

    def includes(self):
        """Cycles of #include between headers, and between folders."""
        by_end = {}
        for p in self.texts:
            by_end.setdefault(os.path.basename(p), []).append(p)
        headers, folders = {}, {}
        for p, text in self.texts.items():
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                hits = [q for q in by_end.get(os.path.basename(name), [])
                        if q.endswith("/" + name) or q == name] or \
                    by_end.get(os.path.basename(name), [])[:1]
                if not hits:
                    continue
                if p.endswith(".h") and hits[0] != p:
                    headers.setdefault(p, set()).add(hits[0])
                a, b = os.path.dirname(p), os.path.dirname(hits[0])
                if a != b:
                    folders.setdefault(a, set()).add(b)
        return components(headers), components(folders)


def sizes(program):
    p = program
    files = sorted(p.lines[f] for f in p.c)
    functions = [f for c in p.c for f in p.functions[c]]
    length = sorted(f[2] for f in functions)
    args = sorted(f[3] for f in functions)
    total = max(1, sum(files))
    wide = sum(1 for c in p.c for line in p.texts[c].split("\n")
               if len(line.expandtabs(8)) > 80)
    comments = sum(comment_lines(t) for t in p.texts.values())
    return [p.name, len(p.c), len(p.h), "%s" % format(sum(files), ","),
            part(files, .5), part(files, .9), files[-1] if files else 0,
            sum(1 for n in files if n < 100), len(functions),
            part(length, .5), part(length, .9), part(length, .99),
            length[-1] if length else 0,
            "%d/%d" % (part(args, .9), args[-1] if args else 0),
            "%.1f" % (100 * comments / max(1, sum(p.lines.values()))),
            "%.1f" % (100 * wide / total)]


def coupling(program):
    p = program
    public, _, users, edges = p.interfaces()
    count = sum(len(p.functions[c]) for c in p.c)
    cycles = components(edges)
    headers, folders = p.includes()
    fullest = {}
    for f in p.c + p.h + [o for o in p.other if o.endswith(".cu")]:
        fullest[os.path.dirname(f)] = fullest.get(os.path.dirname(f), 0) + 1
    one = sum(1 for u in users.values() if len(u) == 1)
    total = max(1, sum(p.lines[c] for c in p.c))
    return [p.name, public, "%.1f" % (1000 * public / total),
            "%.0f %%" % (100 * one / max(1, public)),
            "%.0f %%" % (100 * (count - public) / max(1, count)),
            "%d in %d" % (sum(map(len, cycles)), len(cycles)),
            len(cycles[0]) if cycles else 0,
            "%d (%d)" % (len(headers), len(headers[0]) if headers else 0),
            "%d (%d)" % (len(folders), len(folders[0]) if folders else 0),
            max(fullest.values(), default=0)]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(x) for x in row) + " |")
    print()


def listed(what, program):
    _, owner, users, edges = program.interfaces()
    if what == "cycles":
        for files in components(edges):
            print(len(files), *files)
        return
    if what not in ("one-caller", "no-caller"):
        print(shared(what, program))
        return
    wanted = {"one-caller": 1, "no-caller": 0}[what]
    for name in sorted(users, key=lambda n: (owner[n], n)):
        if len(users[name]) == wanted:
            print(owner[name], name, *users[name])


def shared(name, program):
    body = next((m.group(1) for code in program.code.values()
                 for m in [re.search(r"^struct %s \{\n(.*?)^\};" % name, code,
                                     re.M | re.S)] if m), "")
    body = re.sub(r"\{[^{}]*\}", "", body)
    fields = [f for d in body.split(";")
              for f in re.findall(r"(\w+)\s*(?:\[[^]]*\]|:\s*\d+)*\s*(?:,|$)",
                                  d.strip())]
    users, writers = {f: set() for f in fields}, {f: set() for f in fields}
    for p in program.c:
        code = program.code[p]
        names = "|".join(set(re.findall(r"struct %s \*(?:const )?(\w+)" % name,
                                        code)))
        if not names:
            continue
        for use in re.finditer(r"\b(?:%s)->(\w+)((?:\[[^]]*\])?\s*"
                               r"(?:[-+*/|&^]?=(?!=)|\+\+|--))?" % names, code):
            if use.group(1) in users:
                users[use.group(1)].add(p)
                if use.group(2):
                    writers[use.group(1)].add(p)
    files = set().union(*users.values()) if users else set()
    many = sorted(f for f in fields if len(writers[f]) > 1)
    return "struct %s: %d fields, %d files, %d assigned by several: %s" % (
        name, len(fields), len(files), len(many), " ".join(many))


def main(arguments):
    what = None
    if arguments[:1] == ["--list"]:
        what, arguments = arguments[1], arguments[2:]
    if any("=" not in a for a in arguments):
        sys.exit("usage: code-measures.py [--list WHAT] [NAME=PATH[,PATH...]]...")
    if arguments:
        programs = [Program(a.split("=")[0], a.split("=")[1].split(","))
                    for a in arguments]
    else:
        here = os.path.dirname(os.path.abspath(__file__))
        os.chdir(os.path.dirname(here))
        programs = [Program("product", PRODUCT)]
        if not what:
            programs += [Program(f, [f]) for f in (
                "src/base", "src/model", "src/store", "src/server", "src/cli",
                "src/html", "src/web", "src/import", "src/export",
                "src/worker", "strategies", "trials", "kernels")]
            programs += [Program("tests", ["tests"])]
    if what:
        listed(what, programs[0])
        return
    table(["code", ".c", ".h", "lines .c", "file median", "p90", "max",
           "< 100", "functions", "lines median", "p90", "p99", "max",
           "arguments p90/max", "comments %", "> 80 columns %"],
          [sizes(p) for p in programs])
    table(["code", "public functions", "per 1,000 lines", "one caller",
           "static", "files in call cycles", "largest", "include cycles",
           "of folders", "fullest folder"],
          [coupling(p) for p in programs])


main(sys.argv[1:])
