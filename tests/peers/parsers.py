"""One program for each parser of arguments: reads lr, n, name, on and maybe from the
arguments, and reports m=1 when they are those that the test has sent."""
import os
import sys

parser = sys.argv.pop(1)
want = {"lr": 1e-05, "n": 3, "name": "a b", "on": os.environ["ON"] == "true"}


def check(**got):
    got = {k: got[k] for k in want}
    same = got == want and all(type(got[k]) is type(want[k]) for k in want)
    if not same:
        sys.exit("%s: %r is not %r: %r" % (parser, got, want, sys.argv[1:]))
    print("hpotune: m=1")


def truth(text):
    """The usual type=bool of argparse is true for each text that is not empty."""
    return {"true": True, "false": False}[text]


if parser == "argparse":
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float)
    p.add_argument("--n", type=int)
    p.add_argument("--name")
    p.add_argument("--on", action="store_true")
    check(**vars(p.parse_args()))
elif parser == "argparse-boolean-optional":
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float)
    p.add_argument("--n", type=int)
    p.add_argument("--name")
    p.add_argument("--on", action=argparse.BooleanOptionalAction, default=True)
    check(**vars(p.parse_args()))
elif parser == "argparse-type":
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float)
    p.add_argument("--n", type=int)
    p.add_argument("--name")
    p.add_argument("--on", type=truth)
    check(**vars(p.parse_args()))
elif parser == "argparse-python":
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float)
    p.add_argument("--n", type=int)
    p.add_argument("--name")
    p.add_argument("--on", type=lambda s: {"True": True, "False": False}[s])
    check(**vars(p.parse_args()))
elif parser == "click":
    import click

    @click.command()
    @click.option("--lr", type=float)
    @click.option("--n", type=int)
    @click.option("--name")
    @click.option("--on/--no-on", default=True)
    def main(**got):
        check(**got)
    main()
elif parser == "click-bool":
    import click

    @click.command()
    @click.option("--lr", type=float)
    @click.option("--n", type=int)
    @click.option("--name")
    @click.option("--on", type=bool)
    def main(**got):
        check(**got)
    main()
elif parser == "typer":
    import typer

    def main(lr: float = 0.1, n: int = 1, name: str = "", on: bool = True):
        check(lr=lr, n=n, name=name, on=on)
    typer.run(main)
elif parser == "absl":
    from absl import app, flags
    flags.DEFINE_float("lr", 0.1, "")
    flags.DEFINE_integer("n", 1, "")
    flags.DEFINE_string("name", "", "")
    flags.DEFINE_bool("on", True, "")
    app.run(lambda argv: check(**{k: flags.FLAGS[k].value for k in want}))
elif parser == "fire":
    import fire

    def main(lr, n, name, on=True):
        check(lr=lr, n=n, name=name, on=on)
    fire.Fire(main)
elif parser == "tyro":
    import tyro

    def main(lr: float = 0.1, n: int = 1, name: str = "", on: bool = True):
        check(lr=lr, n=n, name=name, on=on)
    tyro.cli(main)
elif parser == "jsonargparse":
    import jsonargparse

    def main(lr: float = 0.1, n: int = 1, name: str = "", on: bool = True):
        check(lr=lr, n=n, name=name, on=on)
    jsonargparse.CLI(main)
elif parser == "simple-parsing":
    import dataclasses

    import simple_parsing

    @dataclasses.dataclass
    class Config:
        lr: float = 0.1
        n: int = 1
        name: str = ""
        on: bool = True
    check(**vars(simple_parsing.parse(Config)))
elif parser == "pydantic-settings":
    import pydantic_settings

    class Settings(pydantic_settings.BaseSettings, cli_parse_args=True):
        lr: float = 0.1
        n: int = 1
        name: str = ""
        on: bool = True
    check(**Settings().model_dump())
elif parser == "hydra":
    import hydra
    from hydra.core.config_store import ConfigStore
    ConfigStore.instance().store(name="config", node={
        "lr": 0.1, "n": 1, "name": "", "on": True})

    @hydra.main(version_base=None, config_name="config")
    def main(cfg):
        check(**cfg)
    main()
elif parser == "omegaconf":
    from omegaconf import OmegaConf
    check(**OmegaConf.from_cli())
elif parser == "ml-collections":
    import ml_collections
    from absl import app
    from ml_collections import config_flags
    flag = config_flags.DEFINE_config_dict(
        "config", ml_collections.ConfigDict(
            {"lr": 0.1, "n": 1, "name": "", "on": True}))
    app.run(lambda argv: check(**flag.value))
elif parser == "gin":
    import gin

    @gin.configurable
    def train(lr=0.1, n=1, name="", on=want["on"]):
        check(lr=lr, n=n, name=name, on=on)

    gin.parse_config_files_and_bindings([], sys.argv[1:])
    train()
else:
    sys.exit("no parser %s" % parser)
