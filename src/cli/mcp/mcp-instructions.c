/* The text that a client shows to its model. */

#include "src/cli/mcp/mcp-instructions.h"

const char mcp_instructions[] =
    "hpotune tunes the hyperparameters of a program and keeps the books: "
    "which settings were tried, what they gave, what was stopped and why. "
    "One study, described by study.json (man hpotune-study); its trials are "
    "runs of the program.\n"
    "1. check: is study.json right, and what would run?\n"
    "2. If it has trial.command, start runs trials in the background; wait, "
    "and look with status. If not, you run them: ask, run the program with "
    "the params, tell each step, obey the verdict stop, tell end=done.\n"
    "3. To try an idea: enqueue a setting. To change what is best: propose "
    "it, then verdict; do not judge by one run: look at repeated ones, and at "
    "doubts in status.\n"
    "4. why, log and sql answer questions; they change nothing.\n"
    "5. Each answer says what to do next, each error what is wrong. Caps on "
    "trials, hours, dollars and parallel trials were given by the person who "
    "started this server; nothing you send raises them. Every request is "
    "recorded with your name.";
