"""A training that is written for wandb; MODE says how it logs."""

import json
import os

import wandb

MODE = os.environ.get("MODE", "plain")


def plain(run):
    """Nested values, parts of a step, and what is no number."""
    for epoch in range(wandb.config.epochs):
        loss = (wandb.config.lr - 0.25) ** 2 + 1 / (epoch + 1)
        wandb.log({"train": {"loss": loss, "note": "a text"}, "last": 9},
                  commit=False)
        run.log({"val_acc": 1 - loss, "last": epoch == 3})
    run.summary["best"] = 0.75


def steps(run):
    for step in range(0, 40, 10):
        run.log({"val_acc": step / 100, "other": 1}, step=step)
    wandb.run.summary.update({"test_acc": 0.5})


def defined(run):
    """Many steps of training for each epoch."""
    wandb.define_metric("epoch")
    run.define_metric("val_*", step_metric="epoch")
    for i in range(12):
        wandb.log({"loss": 1 / (i + 1)})
        if i % 4 == 3:
            wandb.log({"val_acc": i / 16, "epoch": i // 4})


def flat(values, before=""):
    for name in values.keys():
        value = values[name]
        if hasattr(type(value), "keys"):
            yield from flat(value, before + name + ".")
        elif isinstance(value, (int, float)) and not name.startswith("_"):
            yield before + name, float(value)


def main():
    settings = {"lr": 0.5, "epochs": 2, "opt": "sgd"}
    with wandb.init(project="demo", config=settings, name="a",
                    tags=["one"]) as run:
        run.config.update({"batch": 32})
        assert run is wandb.run and "batch" in wandb.config
        assert wandb.config["opt"] == run.config.get("opt") == "sgd"
        table = wandb.Table(columns=["a"], data=[[1]])
        run.log_code(".") if MODE == "code" else None
        assert table is not None
        globals()[MODE](run)
    if "HISTORY" in os.environ:
        with open(os.environ["HISTORY"], "w") as file:
            json.dump(dict(flat(run.summary)), file)
    assert wandb.run is None
    print("lr", wandb.config.lr if MODE == "plain" and "HISTORY" not in
          os.environ else "")


if os.environ.get("AGENT"):
    wandb.agent(wandb.sweep({"method": "random", "parameters": {}},
                            project="demo"), function=main, count=5)
else:
    main()
