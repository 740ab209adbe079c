/* Classification of driver faults (Xids). */

#ifndef HPOTUNE_GPU_XID_H
#define HPOTUNE_GPU_XID_H

enum gpu_blame {
	GPU_BLAME_TRIAL, /* fault of the program */
	GPU_BLAME_SUSPECT, /* either */
	GPU_BLAME_GPU, /* fault of the GPU: out of service at once */
	GPU_BLAME_NONE /* only noted */
};
enum gpu_blame gpu_xid_blame(int xid);
/* Name of a fault, one clause. */
const char *gpu_xid_text(int xid);

#endif /* HPOTUNE_GPU_XID_H */
