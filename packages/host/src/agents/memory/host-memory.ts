/** The memory of a host put together: for the tools of agents, for their names on the wire, and for the published fixtures. */

import { createProbePerformer, memoryProbe, type ProbeWorld } from '../../conformance/memory-probe.ts';
import type { AgentSource, Performer, Sha256 } from '../../engine/ports.ts';
import type { NodeType } from '../../engine/workflow/node-type.ts';
import type { Store } from '../../log/ports/store.ts';
import { AgentMemory } from './agent-memory.ts';
import { Memory } from './memory.ts';
import { withMemoryRefs } from './memory-refs.ts';

export interface HostMemoryPorts {
  readonly store: Pick<Store, 'records' | 'log'>;
  readonly agentSource: AgentSource;
  readonly now: () => number;
  readonly sha256: Sha256;
  /** In conformance mode: where the fixtures find the secret they try to keep. Else null, and there are no such nodes. */
  readonly probes: Pick<ProbeWorld, 'secret'> | null;
}

export interface HostMemory {
  /** For `openwop:remember`, `openwop:recall` and `openwop:forget`. */
  readonly port: AgentMemory;
  /** In the place of the source that was given. */
  readonly agentSource: AgentSource;
  readonly nodeTypes: readonly NodeType[];
  readonly performers: readonly Performer[];
}

export function hostMemory({ store, agentSource, now, sha256, probes }: HostMemoryPorts): HostMemory {
  const memory = new Memory({ records: store.records, now, sha256 });
  return {
    port: new AgentMemory({ memory, log: store.log, agentSource }),
    agentSource: withMemoryRefs(agentSource),
    nodeTypes: probes === null ? [] : [memoryProbe],
    performers: probes === null ? [] : [createProbePerformer({ memory, ...probes })],
  };
}
