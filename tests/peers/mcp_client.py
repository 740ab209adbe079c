"""The official client of the Model Context Protocol drives hpotune mcp.

mcp_client.py HPOTUNE STUDY MODE: each line that is printed is "ok" or a reason,
a tab, and what was looked at.  MODE is auto (the newest version) or legacy.
"""

import asyncio
import json
import sys

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

hpotune, study, mode = sys.argv[1:]


def look(good, what, got=""):
    print("ok" if good else f"not so: {got}"[:300], what, sep="\t")


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    try:
        return result.is_error, json.loads(text)
    except json.JSONDecodeError:
        return result.is_error, text


async def main():
    server = StdioServerParameters(
        command=hpotune, args=["mcp", "--trials", "3", study])
    async with Client(server, mode=mode) as client:
        newest = (LATEST_MODERN_VERSION if mode == "auto"
                  else LATEST_HANDSHAKE_VERSION)
        look(client.protocol_version == newest, "the newest version",
             client.protocol_version)
        look("hpotune" == client.server_info.name, "the name of the server")
        look("check" in (client.instructions or ""), "instructions")
        tools = {t.name: t for t in (await client.list_tools()).tools}
        look({"check", "start", "status", "ask", "tell", "enqueue",
              "propose", "verdict", "stop",
              "why", "log", "sql"} <= set(tools), "the tools", tools)
        look(all(t.description and t.input_schema["type"] == "object"
                 for t in tools.values()), "have descriptions and schemas")
        error, plan = await call(client, "check")
        look(not error and plan["study"] == "peer", "check", plan)
        for number in 1, 2, 3:
            error, trial = await call(client, "ask")
            look(not error and "x" in trial["params"], f"ask {number}", trial)
            for step in 1, 2:
                error, said = await call(
                    client, "tell", trial=trial["trial"], step=step,
                    values={"loss": trial["params"]["x"] / step})
                look(not error and said["verdict"] == "keep",
                     f"tell {number}, step {step}", said)
            error, said = await call(
                client, "tell", trial=trial["trial"], end="done")
            look(not error and said["state"] == "completed",
                 f"the end of {number}", said)
        error, said = await call(client, "ask")
        look(error and "cap of this caller" in said, "the cap", said)
        error, said = await call(client, "tell", trial="x")
        look(error and "whole number" in said, "a wrong argument", said)
        error, said = await call(
            client, "sql", query="SELECT count(*) FROM curves")
        look(not error and said["rows"] == [[6]], "sql", said)
        error, said = await call(client, "sql", query="DELETE FROM t_trial")
        look(error and "may only read" in said, "sql that writes", said)
        both = await asyncio.gather(
            *(call(client, "status") for _ in range(8)))
        look(all(not error and said["study"]["completed"] == 3
                 for error, said in both), "eight calls at once", both)
        try:
            await client.call_tool("rm", {})
            look(False, "a tool that is not there")
        except MCPError as e:
            look(e.error.code == -32602, "a tool that is not there", e)


asyncio.run(main())
