/* How to use the door, for the model of a client: hpotune-agents(7) in short. */

#ifndef HPOTUNE_MCP_INSTRUCTIONS_H
#define HPOTUNE_MCP_INSTRUCTIONS_H

extern const char mcp_instructions[];

#endif /* HPOTUNE_MCP_INSTRUCTIONS_H */
