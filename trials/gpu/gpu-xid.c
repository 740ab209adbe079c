/*
 * Xids, the fault codes of NVIDIA's driver: their names and whether the trial
 * or the GPU is blamed.  Follows the actions in NVIDIA's catalogue of Xids
 * (2025-10): "restart the application" blames the trial, "reset the GPU" or
 * "restart the machine" the GPU; codes that need more context are suspect.
 * Differences to NVIDIA's device plugin for Kubernetes: 94 kills innocent
 * programs, so it blames the GPU; 109 may be an endless kernel or a GPU that
 * needs a reset; codes that the catalogue calls harmless are only noted.
 */

#include <stddef.h>

#include "trials/gpu/gpu-xid.h"

struct xid {
	int first, last; /* these and all between */
	enum gpu_blame blame;
	const char *text;
};

#define TRIAL GPU_BLAME_TRIAL
#define SUSPECT GPU_BLAME_SUSPECT
#define GPU GPU_BLAME_GPU
#define NONE GPU_BLAME_NONE

/* By number. */
static const struct xid xids[] = {
	{ 8, 8, SUSPECT, "the GPU stopped processing" },
	{ 11, 11, TRIAL, "a corrupted command stream" },
	{ 13, 13, TRIAL, "an exception in a kernel" },
	{ 14, 14, NONE, "a test of the driver" },
	{ 25, 25, TRIAL, "an invalid command stream" },
	{ 31, 31, TRIAL, "memory page fault" },
	{ 32, 32, TRIAL, "a corrupted command stream" },
	{ 37, 37, NONE, "the driver's firmware does not support a call" },
	{ 38, 38, SUSPECT, "the driver's firmware did not answer in time" },
	{ 39, 41, TRIAL, "an exception while copying" },
	{ 43, 43, TRIAL, "a program's channel was reset" },
	{ 44, 44, SUSPECT, "a fault in a context switch" },
	{ 45, 45, TRIAL, "work was removed after an earlier error" },
	{ 46, 46, GPU, "the GPU stopped processing" },
	{ 48, 48, GPU, "double-bit ECC error" },
	{ 54, 54, GPU, "its power cable is not connected" },
	{ 60, 60, TRIAL, "an exception in video processing" },
	{ 62, 62, GPU, "its internal controller halted" },
	{ 63, 63, NONE, "a row of memory was remapped" },
	{ 64, 64, GPU, "a row of memory cannot be remapped" },
	{ 66, 67, NONE, "an access of the driver that is not allowed" },
	{ 68, 68, TRIAL, "an exception while decoding video" },
	{ 69, 69, TRIAL, "a call that the GPU does not support" },
	{ 70, 72, TRIAL, "an exception while copying" },
	{ 74, 74, GPU, "NVLink error" },
	{ 75, 77, TRIAL, "an exception while copying" },
	{ 78, 78, NONE, "a virtual GPU did not start" },
	{ 79, 79, GPU, "it has fallen off the bus" },
	{ 80, 80, TRIAL, "commands were corrupted during transfer" },
	{ 82, 82, TRIAL, "an exception while decoding pictures" },
	{ 83, 84, TRIAL, "an exception while decoding video" },
	{ 85, 85, TRIAL, "an exception while copying" },
	{ 86, 86, TRIAL, "an exception in optical flow" },
	{ 88, 89, TRIAL, "an exception while decoding video" },
	{ 92, 92, NONE, "high rate of corrected single-bit ECC errors" },
	{ 93, 93, NONE,
	    "its configuration memory (InfoROM) is written very often" },
	{ 94, 94, GPU, "contained memory error" },
	{ 95, 95, GPU, "uncontained memory error" },
	{ 96, 98, TRIAL, "an exception while decoding video" },
	{ 99, 105, TRIAL, "an exception while decoding pictures" },
	{ 106, 107, NONE, "a test of the management bus" },
	{ 108, 108, NONE, "an unknown NVLink address" },
	{ 109, 109, SUSPECT, "a context switch took too long" },
	{ 110, 110, GPU, "security fault" },
	{ 119, 119, GPU, "its system processor (GSP) does not respond" },
	{ 120, 120, GPU, "its system processor (GSP) failed" },
	{ 121, 121, SUSPECT, "an error on the link between its chips" },
	{ 126, 135, TRIAL, "an exception while copying" },
	{ 136, 136, GPU, "NVLink training failed" },
	{ 137, 137, NONE, "an access over NVLink that is not allowed" },
	{ 139, 139, TRIAL, "an exception in optical flow" },
	{ 140, 140, GPU, "ECC error that was not contained" },
	{ 141, 141, SUSPECT, "an error in submitting work" },
	{ 143, 143, GPU, "it could not be initialized" },
	{ 144, 150, SUSPECT, "NVLink error" },
	{ 151, 151, GPU, "key rotation failed" },
	{ 154, 154, NONE, "its recovery action has changed" },
	{ 155, 155, GPU, "NVLink error" },
	{ 156, 156, GPU, "a defective part of it was retired" },
	{ 157, 157, SUSPECT, "a defective part of it could not be retired" },
	{ 158, 158, GPU, "it did not answer in time" },
	{ 160, 165, NONE, "a part of it has worn" },
	{ 166, 166, SUSPECT,
	    "NVLink traffic before its encryption was configured" },
	{ 167, 167, GPU, "PCIe timeout" },
	{ 168, 168, SUSPECT, "it has less memory than it should" },
	{ 169, 169, GPU, "its internal controller halted" },
	{ 170, 170, SUSPECT, "NVLink error" },
	{ 171, 172, GPU, "memory error that cannot be corrected" },
};

#undef TRIAL
#undef SUSPECT
#undef GPU
#undef NONE

static const struct xid *
xid_find(int xid)
{
	size_t i;

	for (i = 0; i < sizeof xids / sizeof *xids; i++)
		if (xid >= xids[i].first && xid <= xids[i].last)
			return &xids[i];
	return NULL;
}

enum gpu_blame
gpu_xid_blame(int xid)
{
	const struct xid *x = xid_find(xid);

	/* Unknown codes are suspect. */
	return x != NULL ? x->blame : GPU_BLAME_SUSPECT;
}

const char *
gpu_xid_text(int xid)
{
	const struct xid *x = xid_find(xid);

	return x != NULL ? x->text : "an unknown fault";
}
