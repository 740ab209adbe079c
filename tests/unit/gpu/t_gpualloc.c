/*
 * Which GPUs an attempt gets, when they are released, and their use: scripts of
 * snapshots and times.
 */

#include "tests/support/gpu/gpu-script.h"
#include "tests/support/tap.h"

static const struct gpu_script placing[] = {
	{ "by index, one each",
	    "gpus 3\nplaces 3\n"
	    "take a 1 0\ntake b 2 1\ntake c 3 2\ntake d 4 no\n"
	    "ready no 0 of 3 GPUs are free, a trial needs 1\n"
	    "state 0 held\nbooked 0 yes\n"
	    "end b ok\nlookin 0\nlook\nstate 1 free\nbooked 1 no\n"
	    "ready yes\ntake d 4 1\n"
	    "take d 4 1\n" },
	{ "one node first", "gpus 4 per=2 nodes=0101\nplaces 2\n"
			    "take a 1 0,2\ntake b 2 1,3\nready no\n" },
	{ "several nodes when none has enough",
	    "gpus 4 per=3 nodes=0110\nplaces 1\ntake a 1 0,1,3\n" },
	{ "the node with the most of them",
	    "gpus 4 per=3 nodes=0111\ntake a 1 1,2,3\n" },
	{ "the first node that has enough",
	    "gpus 4 per=2 nodes=0110\ntake a 1 0,3\ntake b 2 1,2\n" },
	{ "nobody shares while another one is empty",
	    "gpus 2 share=2\nplaces 4\n"
	    "take a 1 0\nreport a\ntake b 2 1\nreport b\n"
	    "state 0 free\ntake c 3 0\nreport c\ntake d 4 1\nreport d\n"
	    "take e 5 no\n" },
	{ "a trial over two shares no GPU with itself",
	    "gpus 2 share=3 per=2\nplaces 3\n"
	    "take a 1 0,1\nreport a\ntake b 2 0,1\nreport b\n"
	    "take c 3 0,1\nreport c\ntake d 4 no\n" },
	{ "more than there are", "gpus 2 per=3\nplaces 0\nready no\n"
				 "take a 1 no\n" },
	{ "one that many may share is no two",
	    "gpus 1 share=4 per=2\nplaces 0\n" },
	{ "none at all", "gpus 0\nplaces 0\nready no\ntake a 1 no\nlook\n" },
	{ "one that appears is used",
	    "gpus 2 first=1\nplaces 1\ntake a 1 0\ntake b 2 no\nlook\n"
	    "places 2\ntake b 2 1\nstate 1 held\nend b ok\nlook\n"
	    "state 1 free\nquiet\n" },
	{ "one that appears is not one of those that were named",
	    "gpus 2 first=1 only=0\nlook\nplaces 1\ntake a 1 0\n"
	    "take b 2 no\n" },
	{ "only one of them, by index",
	    "gpus 3 only=1\nplaces 1\ntake a 1 1\ntake b 2 no\n" },
	{ "only one of them, by uuid",
	    "gpus 3 only=GPU-2\nplaces 1\ntake a 1 2\n" },
	{ "a booking is taken back",
	    "gpus 1\ntake a 1 0\nend a never\nstate 0 free\nbooked 0 no\n"
	    "ready yes\n" },
	{ "memory that was declared",
	    "gpus 1 share=4 memory=6000\nplaces 2\n"
	    "take a 1 0\nreport a\ntake b 2 0\nreport b\n"
	    "state 0 full left\ntake c 3 no\n" },
	{ "memory of others counts",
	    "gpus 1 share=4 memory=6000 busy=8000\nset 0 used=5000\nlook\n"
	    "take a 1 0\nreport a\nstate 0 full\n" },
	{ "memory that was not declared is in use all the same",
	    "gpus 1 share=4 memory=4000\ntake a 1 0\nreport a\n"
	    "set 0 used=14000\nlook\nstate 0 full\n"
	    "set 0 used=3000\nlook\nstate 0 free\n" },
	{ "declared more than there is",
	    "gpus 1 memory=20000\nplaces 0\nstate 0 full\ntake a 1 no\n" },
	{ "another study has reserved it",
	    "gpus 2\nother 0 yes\ntake a 1 1\n"
	    "state 0 reserved study mnist of alice has reserved it\n"
	    "+500\nother 0 no\nstate 0 reserved\n+500\nstate 0 free\n"
	    "booked 0 no\ntake b 2 0\n" },
	{ "another study has one of two",
	    "gpus 3 per=2\nother 1 yes\ntake a 1 0,2\nother 2 yes\nother 1 no\n"
	    "end a ok\nlook\n+1000\nstate 1 free\nother 1 yes\n"
	    "take b 2 no\nbooked 0 no\nstate 1 reserved\nstate 2 reserved\n" },
	{ "adopted before anything is placed",
	    "gpus 3\nadopt a 1 1 1\ntake b 2 0\ntake c 3 2\nbooked 1 yes\n"
	    "end a ok\nlook\ntake d 4 1\n" },
	{ "who is there already is no stranger once it is adopted",
	    "gpus 2 found=70@a\nstate 0 foreign\nadopt a 1 0 0\n"
	    "state 0 held\nquiet\nproc 0 70 a 5\nlook\nquiet\n" },
	{ "… but a stranger who is there is told",
	    "gpus 1 found=70@b\nlook\nquiet\nproc 0 70 b 5\nlook\n"
	    "note is not used: process 70\n" },
	{ "adopted with a GPU that is not there any more",
	    "gpus 2 per=2\nadopt a 1 7,1 1\nstate 1 held\nstate 0 free\n" },
};

static const struct gpu_script settling[] = {
	{ "by a report",
	    "gpus 1 share=2\ntake a 1 0\nstate 0 settling trial 1\n"
	    "take b 2 no\nreport a\ntake b 2 0\nstate 0 held\n" },
	{ "by time", "gpus 1 share=2\ntake a 1 0\n+119000\nstate 0 settling\n"
		     "+1000\nstate 0 free\n" },
	{ "by memory that has risen and is level",
	    "gpus 1 share=2\ntake a 1 0\n"
	    "set 0 used=4000\n+1000\nlook\n"
	    "set 0 used=5000\n+1000\nlook\n+1000\nlook\n+1000\nlook\n"
	    "+7000\nlook\nstate 0 settling\n+1000\nlook\nstate 0 free\n" },
	{ "not by memory that has not risen",
	    "gpus 1 share=2\ntake a 1 0\n+9000\nlook\n+9000\nlook\n"
	    "+9000\nlook\n+9000\nlook\nstate 0 settling\n" },
	{ "not by memory that moves",
	    "gpus 1 share=2\ntake a 1 0\nset 0 used=2000\n+9000\nlook\n"
	    "set 0 used=2100\n+9000\nlook\nset 0 used=2200\n+9000\nlook\n"
	    "set 0 used=2300\n+9000\nlook\nstate 0 settling\n" },
	{ "does not matter where memory is declared and free",
	    "gpus 1 share=3 memory=6000\ntake a 1 0\ntake b 2 0\n"
	    "state 0 full 4.3 GiB\nlook\ntake c 3 no\n" },
	{ "nor where more is in use than was declared",
	    "gpus 1 share=3 memory=4000\ntake a 1 0\nproc 0 70 a 13000\n"
	    "set 0 used=13000\nlook\nstate 0 full 3.3 GiB\ntake b 2 no\n" },
	{ "does not matter where it is known what trials are likely to need",
	    "gpus 1 share=4\nexpect 6000\ntake a 1 0\nstate 0 free\n"
	    "expect 9000\ntake b 2 0\nstate 0 full likely to need 8.8 GiB\n"
	    "ready no 1.4 GiB of memory are left\ntake c 3 no\n"
	    "expect 1000\nstate 0 free\ntake c 3 0\nexpect 500\n"
	    "state 0 full\nend b never\nstate 0 free\n" },
	{ "does where the next one's is not known",
	    "gpus 1 share=2\nexpect 6000\ntake a 1 0\nexpect 0\n"
	    "state 0 settling trial 1\nreport a\nstate 0 free\n" },
	{ "and where that of one there is not known",
	    "gpus 1 share=3\ntake a 1 0\nexpect 6000\nstate 0 settling\n"
	    "proc 0 70 a 11000\nset 0 used=11000\nreport a\nlook\n"
	    "state 0 full\nexpect 5000\nstate 0 free\n" },
	{ "what is likely keeps none from an empty GPU",
	    "gpus 2 share=2\nexpect 20000\nstate 0 free\ntake a 1 0\n"
	    "state 0 full\ntake b 2 1\ntake c 3 no\n" },
	{ "what was more than expected counts, also when it is less again",
	    "gpus 1 share=2\nexpect 2000\ntake a 1 0\nproc 0 70 a 9000\n"
	    "set 0 used=9000\nlook\nexpect 7000\nstate 0 free\n"
	    "kill 0 70\nproc 0 70 a 100\nset 0 used=100\nlook\n"
	    "state 0 free\nexpect 8000\nstate 0 full\n" },
	{ "an adopted one needs what is expected of it",
	    "gpus 1 share=3\nexpect 9000\nadopt a 1 0 0\nexpect 8000\n"
	    "state 0 full\nexpect 7000\ntake b 2 0\n" },
	{ "a declaration comes before what is likely",
	    "gpus 1 share=4 memory=6000\nexpect 1000\ntake a 1 0\n"
	    "take b 2 0\nstate 0 full declares 5.9 GiB\n" },
	{ "does not matter where nobody shares",
	    "gpus 1\ntake a 1 0\nstate 0 held\n" },
};

static const struct gpu_script release[] = {
	{ "a process that is still there",
	    "gpus 1\nset 0 used=500\nlook\ntake a 1 0\nproc 0 70 a 4000\n"
	    "set 0 used=4500\n+1000\nlook\n"
	    "end a ok\nstate 0 releasing trial 1\nready no\ntake b 2 no\n"
	    "early\nstate 0 releasing\nlook\nstate 0 releasing\n"
	    "lookin 50\nkill 0 70\n+50\nlook\nstate 0 releasing\n"
	    "booked 0 yes\nset 0 used=600\n+50\nlook\nstate 0 free\n"
	    "booked 0 no\nlookin 10000\nquiet\n" },
	{ "a look from before the end says nothing",
	    "gpus 1\nlook\ntake a 1 0\nend a ok\nearly\nstate 0 releasing\n"
	    "lookin 0\nask\nlookin 50\nearly\nstate 0 releasing\n"
	    "look\nstate 0 free\n" },
	{ "a process that is seen only by its number",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 400\n+1000\nlook\n"
	    "end a ok\nkill 0 70\nproc 0 70 ? 0\nlook\nstate 0 releasing\n"
	    "kill 0 70\nlook\nstate 0 free\n" },
	{ "a process that hides whose it is",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 400\n+1000\nlook\n"
	    "kill 0 70\nproc 0 70 - 400\n+1000\nlook\nend a ok\nlook\n"
	    "state 0 releasing\nkill 0 70\nlook\nstate 0 free\n" },
	{ "a dead process that was never seen alive",
	    "gpus 1\ntake a 1 0\nend a ok\nproc 0 71 ? 0\nlook\n"
	    "state 0 releasing\nkill 0 71\nlook\nstate 0 free\n" },
	{ "a dead process in the list for ever, its memory back",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 400\n+1000\nlook\n"
	    "end a ok\nkill 0 70\nproc 0 70 ? 0\nlook\n+29000\nlook\n"
	    "state 0 releasing\n+1000\nlook\nstate 0 free\n" },
	{ "memory that does not come back",
	    "gpus 1\nset 0 used=1000\nlook\ntake a 1 0\n"
	    "set 0 used=15360\n+1000\nlook\nend a ok\nset 0 used=15000\n"
	    "look\n+29000\nlook\nstate 0 releasing\n+1000\nlook\n"
	    "state 0 quarantined memory of trial 1 was not released\n"
	    "note warn 0 GPU 0 (NVIDIA H200) is out of service: memory of "
	    "trial 1 was not released: 13.7 GiB still in use\n"
	    "booked 0 yes\nlookin 1000\n" },
	{ "a process that does not end",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 0\n+1000\nlook\nend a ok\n"
	    "+30000\nlook\n"
	    "state 0 quarantined process 70 of trial 1 does not end\n" },
	{ "other memory than before it came is not its own",
	    "gpus 1 busy=4000\nset 0 used=3000\nlook\ntake a 1 0\n"
	    "set 0 used=9000\n+1000\nlook\nend a ok\nset 0 used=3100\n"
	    "look\nstate 0 free\n" },
	{ "a stranger's memory is not its own",
	    "gpus 1\ntake a 1 0\nset 0 used=9000\nproc 0 90 - 4000\n+1000\n"
	    "look\nend a ok\nset 0 used=4000\nlook\nstate 0 foreign\n" },
	{ "two on one: only its own processes are waited for",
	    "gpus 1 share=2\ntake a 1 0\nproc 0 70 a 400\nreport a\nlook\n"
	    "take b 2 0\nproc 0 80 b 300\nreport b\n+1000\nset 0 used=800\n"
	    "look\nend a ok\nlook\nstate 0 releasing\nkill 0 70\nlook\n"
	    "state 0 free\nbooked 0 yes\ntake c 3 0\n" },
	{ "two on one, none to be seen: until no memory is given back",
	    "gpus 1 share=2\ntake a 1 0\nreport a\nlook\ntake b 2 0\n"
	    "report b\n+1000\nset 0 used=8000\nlook\nend a ok\n"
	    "set 0 used=6000\nlook\nstate 0 releasing\nset 0 used=4000\n"
	    "look\nstate 0 releasing\nlook\nstate 0 free\n" },
	{ "processes of another world, as a container sees them",
	    "gpus 1\ntake a 1 0\nproc 0 4711 ? 4000\nset 0 used=4000\n+1000\n"
	    "look\nstate 0 held\nend a ok\nlook\nstate 0 releasing\n"
	    "kill 0 4711\nset 0 used=0\nlook\nstate 0 free\n" },
	{ "… and two of them: the other's say nothing",
	    "gpus 1 share=2\ntake a 1 0\nproc 0 4711 ? 400\nreport a\n"
	    "look\ntake b 2 0\nproc 0 4712 ? 300\nreport b\n+1000\n"
	    "set 0 used=800\nlook\nend a ok\nkill 0 4711\nset 0 used=400\n"
	    "look\nlook\nstate 0 free\n" },
	{ "of adopted ones nobody knows what was there before",
	    "gpus 1 busy=1000\nadopt a 1 0\nset 0 used=9000\n+1000\nlook\n"
	    "end a ok\nset 0 used=2000\nlook\nstate 0 releasing\n"
	    "set 0 used=900\nlook\nstate 0 free\n" },
	{ "where nothing is seen nothing is waited for",
	    "gpus 1 source=proc\ntake a 1 0\nend a ok\nstate 0 free\n"
	    "booked 0 no\n" },
	{ "… nor where it is simulated",
	    "gpus 1 source=simulated\ntake a 1 0\nend a ok\nstate 0 free\n" },
	{ "over two: each by itself",
	    "gpus 2 per=2\ntake a 1 0,1\nproc 0 70 a 1\nproc 1 71 a 1\n+1000\n"
	    "look\nend a ok\nkill 0 70\nlook\nstate 0 free\n"
	    "state 1 releasing\nkill 1 71\nlook\nstate 1 free\n" },
	{ "a pack that comes again under its name",
	    "gpus 2\ntake p 1 0\nproc 0 70 p 1\nlook\nend p ok\n"
	    "take p 2 1\nlook\nstate 0 releasing\nkill 0 70\nlook\n"
	    "state 0 free\nstate 1 held\n" },
};

static const struct gpu_script foreign[] = {
	{ "a stranger's process",
	    "gpus 2\nproc 0 90 - 2048\nlook\n"
	    "state 0 foreign process 90 (2.0 GiB) of another owner\n"
	    "note info 0 GPU 0 (NVIDIA H200) is not used: process 90\n"
	    "take a 1 1\nkill 0 90\nlook\nstate 0 free\n" },
	{ "what a study has reserved is reserved, whatever is listed there",
	    "gpus 1\nother 0 yes\nproc 0 90 zzz 10\nlook\n"
	    "state 0 reserved study mnist of alice\nquiet\n"
	    "other 0 no\n+1000\nlook\nstate 0 reserved study mnist of alice\n"
	    "other 0 yes\n+1000\nlook\nstate 0 reserved\n"
	    "other 0 no\nkill 0 90\n+1000\nlook\nstate 0 free\n"
	    "proc 0 91 - 10\nlook\nstate 0 foreign\nnote is not used\n" },
	{ "also what was reserved first",
	    "gpus 1\nother 0 yes\ntake a 1 no\nstate 0 reserved\n"
	    "proc 0 90 zzz 10\nlook\nother 0 no\n+1000\nlook\n"
	    "state 0 reserved\nkill 0 90\nlook\ntake a 1 0\nbooked 0 yes\n"
	    "quiet\n" },
	{ "a stranger's GPU that a study reserves later",
	    "gpus 1\nproc 0 90 - 10\nlook\nstate 0 foreign\nother 0 yes\n"
	    "+1000\nstate 0 reserved\n" },
	{ "a process of another study",
	    "gpus 1\nproc 0 90 zzz 10\nlook\nstate 0 foreign\n" },
	{ "memory of nobody who can be seen",
	    "gpus 1\nset 0 used=1000\nlook\nstate 0 free\n"
	    "set 0 used=1100\nlook\nstate 0 foreign 1.1 GiB in use without a "
	    "visible process\n"
	    "set 0 used=900\nlook\nstate 0 free\n" },
	{ "not by utilization",
	    "gpus 1\nset 0 util=100\nlook\nstate 0 free\n" },
	{ "a process that cannot be seen is not one",
	    "gpus 1\nproc 0 90 ? 100\nlook\nstate 0 free\n" },
	{ "the daemon of MPS is nobody",
	    "gpus 1\nproc 0 90 mps 30\nlook\nstate 0 free\n" },
	{ "beside our trial: it goes on, nobody else comes",
	    "gpus 1 share=2\ntake a 1 0\nproc 0 70 a 1\nreport a\n"
	    "proc 0 90 - 1\nlook\nstate 0 foreign\ntake b 2 no\n" },
	{ "a process of ours that changed its environment",
	    "gpus 1 share=2\ntake a 1 0\nproc 0 70 a 1\nreport a\nlook\n"
	    "kill 0 70\nproc 0 70 - 1\nlook\nstate 0 free\n" },
	{ "a trial of ours on a GPU of another's",
	    "gpus 2\ntake a 1 0\nproc 1 70 a 1\nlook\n"
	    "state 1 foreign process 70 (1 MiB) of trial 1, which has "
	    "other\n" },
	{ "told once while it flickers",
	    "gpus 1\nproc 0 90 - 1\nlook\nnote is not used\nkill 0 90\n+1000\n"
	    "look\nproc 0 90 - 1\n+1000\nlook\nquiet\nkill 0 90\n+1000\nlook\n"
	    "proc 0 90 - 1\n+60000\nlook\nnote is not used\n" },
};

static const struct gpu_script usage[] = {
	{ "energy by differences",
	    "gpus 1\nset 0 energy=1000\nlook\ntake a 1 0\nusage a energy=?\n"
	    "set 0 energy=1300\n+1000\nlook\nusage a energy=300 gpus=1\n"
	    "set 0 energy=1350\n+1000\nlook\nusage a energy=350\n" },
	{ "a counter that was set back",
	    "gpus 1\nset 0 energy=1000\nlook\ntake a 1 0\n"
	    "set 0 energy=1300\n+1000\nlook\nset 0 energy=10\n+1000\nlook\n"
	    "set 0 energy=30\n+1000\nlook\nusage a energy=320\n" },
	{ "half of the time, half of the energy",
	    "gpus 1\nset 0 energy=1000\nlook\n+500\ntake a 1 0\n"
	    "set 0 energy=1300\n+500\nlook\nusage a energy=150\n" },
	{ "shared out equally",
	    "gpus 1 share=2\nset 0 energy=0 util=60\nlook\n"
	    "take a 1 0\nreport a\ntake b 2 0\nset 0 energy=100\n+1000\nlook\n"
	    "usage a energy=50 busy=0.3 seen=0.5\nusage b energy=50\n" },
	{ "of two GPUs together",
	    "gpus 2 per=2\nset 0 energy=0 util=50 used=100\n"
	    "set 1 energy=0 util=10 used=100\nlook\ntake a 1 0,1\n"
	    "set 0 energy=100 used=1100\nset 1 energy=50 used=600\n+1000\n"
	    "look\nusage a energy=150 busy=0.6 seen=2 memory=1500 gpus=2\n" },
	{ "the most memory at once",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 500\nproc 0 71 a 700\nlook\n"
	    "kill 0 71\n+1000\nlook\nusage a memory=1200\n" },
	{ "memory of one of two: by processes only",
	    "gpus 1 share=2\ntake a 1 0\nreport a\ntake b 2 0\n"
	    "proc 0 70 a 500\nset 0 used=900\nlook\nusage a memory=500\n"
	    "usage b memory=?\n" },
	{ "memory by the whole GPU when alone",
	    "gpus 1\nset 0 used=300\nlook\ntake a 1 0\nset 0 used=2300\n+1000\n"
	    "look\nset 0 used=1300\n+1000\nlook\nusage a memory=2000\n" },
	{ "the time since the last look",
	    "gpus 1\nset 0 energy=0 util=40 power=200\nlook\ntake a 1 0\n"
	    "+1000\nset 0 energy=100\nlook\n+500\nend a ok\n"
	    "usage a energy=200 busy=0.6 seen=1.5\n"
	    "set 0 energy=9000\n+1000\nlook\nusage a energy=200\n" },
	{ "not known is not nothing",
	    "gpus 1 source=simulated\ntake a 1 0\n+1000\nlook\n"
	    "usage a energy=? busy=? seen=0 gpus=1\nend a ok\n"
	    "usage a energy=?\n" },
};

static const struct gpu_script looks[] = {
	{ "how often it looks",
	    "gpus 2\nlook\nlookin 10000\n+4000\nlookin 6000\n+7000\nlookin 0\n"
	    "look\ntake a 1 0\nlookin 1000\nend a ok\nlookin 0\nask\nlookin "
	    "50\nlook\n"
	    "lookin 10000\n" },
	{ "more often while others may leave",
	    "gpus 2\nlook\nlookin 10000\nproc 0 90 - 10\nlook\nlookin 1000\n"
	    "kill 0 90\n+1000\nlook\nlookin 10000\n" },
};

#define PLAY(table) play(table, sizeof table / sizeof *table)

static void
play(const struct gpu_script *s, size_t n)
{
	for (; n-- > 0; s++)
		ok(gpu_script_play(s), "%s", s->title);
}

int
main(void)
{
	PLAY(placing);
	PLAY(settling);
	PLAY(release);
	PLAY(foreign);
	PLAY(usage);
	PLAY(looks);
	return done_testing();
}
