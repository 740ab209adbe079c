"""spacy train with a blank pipeline and its table; it cannot be resumed: an
attempt begins anew."""

import json
import os
import tempfile
from pathlib import Path

import spacy
from spacy.cli.init_config import init_config
from spacy.cli.train import train
from spacy.tokens import DocBin

import reader


@spacy.registry.callbacks("reader.slow")
def make_slow():
    def slow(nlp, args):
        reader.wait()
        reader.cut(args["epoch"])

    return slow


kind = os.environ.get("MODEL", "textcat")
nlp = spacy.blank("en")
work = Path(tempfile.mkdtemp(dir="."))
docs = DocBin()
for i in range(40):
    good = i % 2
    doc = nlp(f"Number {i} was {'good' if good else 'bad'} in Paris .")
    doc.cats = {"GOOD": float(good), "BAD": float(not good)}
    doc.ents = [spacy.tokens.Span(doc, 5, 6, "PLACE")]
    docs.add(doc)
docs.to_disk(work / "data.spacy")
config = init_config(lang="en", pipeline=[kind], optimize="efficiency", gpu=False)
config["training"].update({
    "max_epochs": reader.epochs, "eval_frequency": 4, "patience": 0,
    "before_update": {"@callbacks": "reader.slow"},
    "logger": {"@loggers": "spacy.ConsoleLogger.v3", "progress_bar": None,
               "console_output": True, "output_file": str(work / "log.jsonl")}})
config["training"]["batcher"]["size"] = 100
config.to_disk(work / "config.cfg")
train(work / "config.cfg", work / "out", overrides={
    "paths.train": str(work / "data.spacy"), "paths.dev": str(work / "data.spacy")})
curves = {}
with open(work / "log.jsonl") as log:
    for line in log:
        row = json.loads(line)
        curves.setdefault("SCORE", {})[row["step"]] = row["score"]
        for pipe, value in row["losses"].items():
            curves.setdefault(f"LOSS {pipe}".upper(), {})[row["step"]] = value
reader.history(curves)
