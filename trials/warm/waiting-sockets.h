/* The two sockets of a process that waits for attempts and of who gives them. */

#ifndef HPOTUNE_WAITING_SOCKETS_H
#define HPOTUNE_WAITING_SOCKETS_H

/*
 * Connect two sockets for messages, both above the descriptors that a supervisor is
 * started with, and closed by exec.  0, or errno: both are -1.
 */
int waiting_sockets_open(int s[2]);

#endif /* HPOTUNE_WAITING_SOCKETS_H */
