/** Agents: the inventory of the tenant. */
import type { AgentInventory, AgentInventoryEntry } from '@cairn/protocol';
import { type CallOptions, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Agents {
  /** All agents that the key's tenant may use, by id. */
  list(options?: CallOptions): Promise<readonly AgentInventoryEntry[]>;
  get(agentId: string, options?: CallOptions): Promise<AgentInventoryEntry>;
}

export function agentCalls(connection: Connection): Agents {
  return {
    async list(options) {
      return (await read<AgentInventory>(connection, '/v1/agents', options)).agents;
    },
    get: (agentId, options) => read(connection, `/v1/agents/${segment(agentId)}`, options),
  };
}
