/** What an engine is built from: the ports it reaches the world by, the node types it can run, and its limits. */
import type { Store } from '../../log/ports/store.ts';
import type { HostLimits } from '../core/limits.ts';
import type { AgentSource, Clock, Performer, Redactor, Report, Sha256, Step, UniqueId } from '../ports.ts';
import type { NodeType } from '../workflow/node-type.ts';

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly uniqueId: UniqueId;
  readonly sha256: Sha256;
  /** Names this node among those that share the store; a new name for each start of the process. */
  readonly owner: string;
  readonly steps: readonly Step[];
  /** Node types beside the core ones and the steps, and the performers of their calls. */
  readonly nodeTypes?: readonly NodeType[];
  readonly performers?: readonly Performer[];
  /** Where agents are found. Default: this host has none. */
  readonly agents?: AgentSource | null;
  readonly limits: HostLimits;
  readonly report: Report;
  /** Takes known secrets out of what comes from outside. Default: there are none. */
  readonly redactor?: Redactor | null;
  /** How long a silent node keeps its runs. Default 30,000. */
  readonly leaseMs?: number;
}
