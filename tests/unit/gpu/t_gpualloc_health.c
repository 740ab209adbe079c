/*
 * GPU health: faults and their blame, failures in a row, unreleased memory,
 * probes, a driver that does not respond, GPUs that appear and disappear.
 */

#include "tests/support/gpu/gpu-script.h"
#include "tests/support/tap.h"
#include "trials/gpu/allocator/gpualloc.h"

static const struct gpu_script faults[] = {
	{ "the trial's own fault",
	    "gpus 1\ntake a 4 0\nxid 0 31\nlook\nstate 0 held\n"
	    "note warn 4 Xid 31 on GPU 0 (NVIDIA H200): memory page fault, by "
	    "the trial's own fault\nend a fail\n" },
	{ "a storm is told once of each kind",
	    "gpus 1\ntake a 4 0\nxid 0 31\nxid 0 31\nxid 0 31\nlook\n"
	    "note Xid 31\nxid 0 31\nlook\nquiet\nxid 0 13\nlook\n"
	    "note Xid 13\nend a fail\nlook\ntake b 5 0\nxid 0 31\nlook\n"
	    "note warn 5 Xid 31\n" },
	{ "of two trials one may be to blame",
	    "gpus 1 share=2\ntake a 4 0\nreport a\ntake b 5 0\nxid 0 13\nlook\n"
	    "note warn 5 Xid 13 on GPU 0 (NVIDIA H200): an exception in a "
	    "kernel, by the fault of one of its trials\n" },
	{ "a suspicion",
	    "gpus 1\ntake a 4 0\nxid 0 109\nlook\nnote GPU 0 (NVIDIA H200) is "
	    "under suspicion: Xid 109\nstate 0 suspect Xid 109\n"
	    "end a fail\nlook\nstate 0 suspect\nready no\n" },
	{ "out of service at once, and the failure is the machine's",
	    "gpus 2 per=2\ntake a 4 0,1\nxid 1 79\nlook\nstate 0 held\n"
	    "state 1 quarantined Xid 79: it has fallen off the bus\n"
	    "end a fail machine\n" },
	{ "who did not fail is not to be excused",
	    "gpus 1\ntake a 4 0\nxid 0 79\nlook\nend a ok\n" },
	{ "a fault before it came is not an excuse",
	    "gpus 2\nxid 0 79\nlook\ntake a 4 1\nend a fail\n" },
	{ "a fault that is only news",
	    "gpus 1\ntake a 4 0\nxid 0 63\nlook\nstate 0 held\n"
	    "note info 4 Xid 63 on GPU 0 (NVIDIA H200): a row of memory was "
	    "remapped\nxid 0 63\nlook\nquiet\n" },
	{ "a stranger's own fault is not our news",
	    "gpus 1\nxid 0 31\nlook\nquiet\nstate 0 free\n" },
	{ "a number nobody knows",
	    "gpus 1\nxid 0 999\nlook\nstate 0 suspect\n" },
	{ "of a GPU that is not there", "gpus 1\nxid 5 79\nlook\nquiet\n"
					"state 0 free\n" },
	{ "lost", "gpus 1\ntake a 4 0\nset 0 lost=1\nlook\n"
		  "state 0 quarantined lost\nnote out of service\n"
		  "end a fail machine\n" },
	{ "the driver asks for a reset",
	    "gpus 1\ntake a 4 0\nset 0 recovery=1\nlook\n"
	    "state 0 quarantined reset\nend a fail machine\nlook\n+5000\n"
	    "probes 0 yes\nprobed 0 good\n+5000\nprobed 0 good\n"
	    "state 0 quarantined\nset 0 recovery=0\nlook\nstate 0 free\n" },
	{ "out of service before our start",
	    "gpus 2\ndistrust 0 broken\nstate 0 quarantined broken\n"
	    "note GPU 0 (NVIDIA H200) is out of service: broken\nstate 1 free\n"
	    "look\n+0\nprobes 0 yes\nprobed 0 good\nstate 0 quarantined\n"
	    "+5000\nprobes 0 yes\nprobed 0 good\nstate 0 free\n" },
	{ "of a GPU that is not ours to use nothing is told",
	    "gpus 2 only=0\nxid 1 79\nlook\nquiet\nstate 1 quarantined\n"
	    "+60000\nprobes 1 no\n" },
};

static const struct gpu_script rows[] = {
	{ "trials fail there: it is tested, and back when it works",
	    "gpus 2\ntake a 1 0\nend a fail\nlook\nquiet\ndoubt 0 failing\n"
	    "state 0 suspect failing\nstate 1 free\n"
	    "note GPU 0 (NVIDIA H200) is under suspicion: failing\n+5000\n"
	    "probed 0 good\n+5000\nprobed 0 good\nstate 0 free\n"
	    "note in service again\n" },
	{ "how trials end is nothing to the allocator itself",
	    "gpus 1\ntake a 1 0\nend a fail\nlook\ntake b 2 0\nend b fail\n"
	    "look\ntake c 3 0\nend c fail\nlook\ntake d 4 0\nend d fail\n"
	    "look\nquiet\nstate 0 free\n" },
	{ "of a GPU that is not there", "gpus 1\ndoubt 5 failing\nquiet\n" },
	{ "a fault of its own weighs more",
	    "gpus 1\nxid 0 79\nlook\ndoubt 0 failing\n"
	    "state 0 quarantined Xid 79\n" },
};

static const struct gpu_script probation[] = {
	{ "two clean probes bring it back",
	    "gpus 1\nxid 0 79\nlook\nprobes 0 no\n+4999\nprobes 0 no\n+1\n"
	    "probes 0 yes\n+100000\nprobed 0 good\nstate 0 quarantined\n"
	    "+4999\nprobes 0 no\n+1\nprobed 0 good\nstate 0 free\n"
	    "note info 0 GPU 0 (NVIDIA H200) is in service again\n"
	    "+1000000\nprobes 0 no\n" },
	{ "later each time",
	    "gpus 1\nxid 0 79\nlook\n+5000\nprobed 0 bad\n"
	    "state 0 quarantined a probe failed: bad memory\n"
	    "+14999\nprobes 0 no\n+1\nprobed 0 bad\n+59999\nprobes 0 no\n+1\n"
	    "probed 0 bad\n+299999\nprobes 0 no\n+1\nprobed 0 bad\n+299999\n"
	    "probes 0 no\n+1\nprobes 0 yes\n" },
	{ "a failed one makes the good one before it void",
	    "gpus 1\nxid 0 79\nlook\n+5000\nprobed 0 good\n+5000\nprobed 0 "
	    "bad\n"
	    "+15000\nprobed 0 good\nstate 0 quarantined\n+5000\n"
	    "probed 0 good\nstate 0 free\n" },
	{ "a suspect that fails a probe is suspect no more",
	    "gpus 1\nxid 0 109\nlook\nstate 0 suspect\n+5000\nprobed 0 bad\n"
	    "state 0 quarantined\n" },
	{ "not while a trial is on it",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 1\nxid 0 79\nlook\n+60000\n"
	    "probes 0 no\nend a fail machine\n+10\nprobes 0 no\nkill 0 70\n"
	    "look\n+10\nprobes 0 yes\n" },
	{ "not while somebody else is on it",
	    "gpus 1\nxid 0 79\nproc 0 90 - 1\nlook\n+60000\nprobes 0 no\n"
	    "kill 0 90\nlook\n+10\nprobes 0 yes\n" },
	{ "another fault in the meantime",
	    "gpus 1\nxid 0 79\nlook\n+5000\nprobed 0 good\nxid 0 48\nlook\n"
	    "+5000\nprobed 0 good\nstate 0 quarantined\n+5000\n"
	    "probed 0 good\nstate 0 free\n" },
	{ "once more is later, until a trial has run well",
	    "gpus 1\nxid 0 79\nlook\n+5000\nprobed 0 good\n+5000\nprobed 0 "
	    "good\n"
	    "xid 0 79\nlook\n+5000\nprobes 0 no\n+10000\nprobed 0 good\n"
	    "+5000\nprobed 0 good\nstate 0 free\n"
	    "take a 1 0\nend a ok\nlook\nxid 0 79\nlook\n+5000\nprobes 0 "
	    "yes\n" },
	{ "a leak needs its memory back as well",
	    "gpus 1\nset 0 used=100\nlook\ntake a 1 0\nset 0 used=9000\n+1000\n"
	    "look\nend a ok\nlook\n+30000\nlook\nstate 0 quarantined\n"
	    "+5000\nprobed 0 good\n+5000\nprobed 0 good\nstate 0 quarantined\n"
	    "booked 0 yes\n+1000\nset 0 used=200\nlook\nstate 0 free\n"
	    "booked 0 no\n" },
	{ "… and no process of it",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 10\n+1000\nlook\nend a ok\nlook\n"
	    "+30000\nlook\n+100000\nprobes 0 no\nkill 0 70\nlook\n+1\n"
	    "probed 0 good\n+5000\nprobed 0 good\nstate 0 free\n" },
	{ "a leak is no excuse for the one beside it",
	    "gpus 1 share=2\ntake a 1 0\nproc 0 70 a 10\nreport a\nlook\n"
	    "take b 2 0\nreport b\nend a ok\nlook\n+30000\nlook\n"
	    "state 0 quarantined process 70\nend b fail\n" },
	{ "told at most once a minute",
	    "gpus 1\nxid 0 48\nlook\nnote out of service\n+5000\nprobed 0 bad\n"
	    "quiet\n+15000\nprobed 0 bad\nquiet\n+60000\nprobed 0 bad\n"
	    "note out of service: a probe failed\n" },
};

static const struct gpu_script sight[] = {
	{ "the driver does not respond",
	    "gpus 2\ntake a 1 0\nlook\ndown\n+1000\nlook\n"
	    "state 0 unknown no answer\nstate 1 unknown\ntake b 2 no\n"
	    "note warn 0 the GPUs cannot be queried now: no "
	    "answer\n+1000\nlook\n"
	    "quiet\nup\n+1000\nlook\nnote info 0 the GPUs are visible again\n"
	    "state 0 held\nstate 1 free\n" },
	{ "a source that knows less is no answer",
	    "gpus 1\nproc-only\nlook\nstate 0 unknown\nup\nlook\n"
	    "state 0 free\n" },
	{ "what ends meanwhile waits",
	    "gpus 1\ntake a 1 0\nproc 0 70 a 5\n+1000\nlook\ndown\nlook\n"
	    "end a ok\nlookin 1000\nlook\n+40000\nlook\nup\n+1000\n"
	    "state 0 unknown\nkill 0 70\nlook\nstate 0 free\n" },
	{ "gone, and back after a probe",
	    "gpus 2\ntake a 1 0\nset 0 gone=1\nlook\nstate 0 gone\n"
	    "note warn 0 GPU 0 (NVIDIA H200) has disappeared\nstate 1 free\n"
	    "end a fail machine\nbooked 0 no\nlook\nquiet\n+60000\n"
	    "probes 0 no\nset 0 gone=0\nlook\nstate 0 suspect had "
	    "disappeared\n+1\n"
	    "probed 0 good\nstate 0 free\n" },
	{ "gone while it was out of service",
	    "gpus 1\nxid 0 79\nlook\n+5000\nprobed 0 good\nset 0 gone=1\nlook\n"
	    "state 0 gone\n+60000\nprobes 0 no\nset 0 gone=0\nlook\nstate 0 "
	    "quarantined Xid 79\n"
	    "+5000\nprobed 0 good\nstate 0 quarantined\n+5000\nprobed 0 good\n"
	    "state 0 free\n" },
	{ "gone while its trial goes on",
	    "gpus 1\ntake a 1 0\nset 0 gone=1\nlook\n+1000\nset 0 "
	    "gone=0\nlook\n"
	    "state 0 suspect\n+60000\nprobes 0 no\nend a ok\nlook\n+1\n"
	    "probed 0 good\nstate 0 free\n" },
};

static void
test_table(void)
{
	static const struct {
		int xid;
		enum gpu_blame blame;
	} want[] = {
		{ 13, GPU_BLAME_TRIAL },
		{ 31, GPU_BLAME_TRIAL },
		{ 43, GPU_BLAME_TRIAL },
		{ 45, GPU_BLAME_TRIAL },
		{ 68, GPU_BLAME_TRIAL },
		{ 48, GPU_BLAME_GPU },
		{ 62, GPU_BLAME_GPU },
		{ 64, GPU_BLAME_GPU },
		{ 74, GPU_BLAME_GPU },
		{ 79, GPU_BLAME_GPU },
		{ 94, GPU_BLAME_GPU },
		{ 95, GPU_BLAME_GPU },
		{ 119, GPU_BLAME_GPU },
		{ 120, GPU_BLAME_GPU },
		{ 109, GPU_BLAME_SUSPECT },
		{ 145, GPU_BLAME_SUSPECT },
		{ 63, GPU_BLAME_NONE },
		{ 92, GPU_BLAME_NONE },
		{ 154, GPU_BLAME_NONE },
		{ 0, GPU_BLAME_SUSPECT },
		{ 1000, GPU_BLAME_SUSPECT },
		{ -1, GPU_BLAME_SUSPECT },
	};
	size_t k;
	int xid, bad = 0;

	for (k = 0; k < sizeof want / sizeof *want; k++)
		ok(gpu_xid_blame(want[k].xid) == want[k].blame, "Xid %d",
		    want[k].xid);
	for (xid = 0; xid < 200; xid++)
		bad += gpu_xid_text(xid)[0] == '\0';
	is_int(bad, 0, "each has a name");
}

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
	PLAY(faults);
	PLAY(rows);
	PLAY(probation);
	PLAY(sight);
	test_table();
	return done_testing();
}
