/* What a fault that NVIDIA's driver reports means: whose fault it is. */

#ifndef HPOTUNE_GPU_XID_H
#define HPOTUNE_GPU_XID_H

enum gpu_blame {
	GPU_BLAME_TRIAL, /* the program's own fault */
	GPU_BLAME_SUSPECT, /* may be either */
	GPU_BLAME_GPU, /* out of service at once */
	GPU_BLAME_NONE /* only news */
};
enum gpu_blame gpu_xid_blame(int xid);
/* What it is called: one clause. */
const char *gpu_xid_text(int xid);

#endif /* HPOTUNE_GPU_XID_H */
