/** Assembles the memory of a host: the port of the memory tools, and memory references for pinned agents. */
import type { AgentSource, Sha256 } from '../../engine/ports.ts';
import type { Store } from '../../log/ports/store.ts';
import { AgentMemory } from './agent-memory.ts';
import { Memory } from './memory.ts';
import { withMemoryRefs } from './memory-refs.ts';

export interface HostMemoryPorts {
  readonly store: Pick<Store, 'memories' | 'log'>;
  readonly agentSource: AgentSource;
  readonly now: () => number;
  readonly sha256: Sha256;
}

export interface HostMemory {
  readonly memory: Memory;
  /** For `openwop:remember`, `openwop:recall` and `openwop:forget`. */
  readonly port: AgentMemory;
  /** Replaces the given source. */
  readonly agentSource: AgentSource;
}

export function hostMemory({ store, agentSource, now, sha256 }: HostMemoryPorts): HostMemory {
  const memory = new Memory({ memories: store.memories, now, sha256 });
  return {
    memory,
    port: new AgentMemory({ memory, log: store.log, agentSource }),
    agentSource: withMemoryRefs(agentSource),
  };
}
