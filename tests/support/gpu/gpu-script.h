/*
 * A machine of GPUs in a script: one command a line, "#" begins a comment.
 * Memory is in MiB, energy in joules, power in watts, times in ms.
 *
 *   gpus N [share=] [per=] [memory=] [busy=] [only=] [nodes=] [source=] [found=]
 *        the machine: 16384 MiB each, all idle; nodes=0011 one digit a GPU;
 *        first=N: the first look shows only so many;
 *        found=70@a: the first look shows this process on GPU 0
 *   +MS                     time passes, gpualloc_tick
 *   set I used= energy= util= power= lost= recovery= gone= parent=
 *   proc I PID OWNER MIB    a process: "-" somebody else's, "?" not seen here
 *   kill I PID              it is gone from the list
 *   xid I N                 a fault in the next look
 *   look                    one that was asked for now
 *   early                   the last one once more
 *   ask                     one is asked for, and does not come yet
 *   down / proc-only / up   what the next looks can see
 *   other I yes|no          another study has booked it
 *   expect MIB              what the next one is likely to need
 *   take KEY TRIAL GPUS     "0,1", or "no"
 *   adopt KEY TRIAL GPUS
 *   end KEY HOW [machine]   ok fail never; machine: not its own fault
 *   report KEY
 *   distrust I WHY          it was out of service before; one word
 *   doubt I WHY             trials fail there; one word
 *   probed I good|bad       it was asked for, and here is the answer
 *   Checks:
 *   state I NAME [TEXT]     TEXT: in its why
 *   ready yes|no [TEXT]
 *   note TEXT               exactly one note since the last check has it
 *   quiet                   no note since the last check
 *   booked I yes|no
 *   probes I yes|no         whether a probe is wanted
 *   lookin MS
 *   places N
 *   usage KEY energy= memory= busy= seen=    "?" = not known
 */

#ifndef HPOTUNE_GPU_SCRIPT_H
#define HPOTUNE_GPU_SCRIPT_H

#include <stdbool.h>

struct gpu_script {
	const char *title;
	const char *text;
};

/* Play it; false: what is wrong is told on stdout. */
bool gpu_script_play(const struct gpu_script *);

#endif /* HPOTUNE_GPU_SCRIPT_H */
