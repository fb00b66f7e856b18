/** Options of an engine: its ports, the node types it can run, and its limits. */
import type { PayloadOf } from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import type { HostLimits } from '../core/limits.ts';
import type {
  AgentMetadata,
  AgentSource,
  Clock,
  CrashRecord,
  EventLoop,
  Performer,
  PromptSource,
  Redactor,
  Report,
  Sha256,
  Step,
  TraceOf,
  UniqueId,
  Vault,
} from '../ports.ts';
import type { NodeType } from '../workflow/node-type.ts';

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Lets runs step in slices. Default: runs never yield the event loop. */
  readonly eventLoop?: EventLoop | null;
  /** The event loop for work of milliseconds, which may have to wait longer. Default: `eventLoop`. */
  readonly longTurns?: EventLoop | null;
  /** Attributes the death of the process to a run. Default: no attribution. */
  readonly crashes?: CrashRecord | null;
  readonly uniqueId: UniqueId;
  readonly sha256: Sha256;
  /** Identifies this node among the nodes that share the store; unique for each process start. */
  readonly owner: string;
  readonly steps: readonly Step[];
  /** Node types in addition to the core types and the steps, and the performers of their calls. */
  readonly nodeTypes?: readonly NodeType[];
  readonly performers?: readonly Performer[];
  /** Source of agents. Default: this host has none. */
  readonly agents?: AgentSource | null;
  /** What new runs record about the identities of their agents. Default: nothing. */
  readonly agentMetadata?: AgentMetadata | null;
  /** Source of prompt templates. Default: this host has none. */
  readonly prompts?: PromptSource | null;
  readonly limits: HostLimits;
  /** The options that a run may set, besides those of its workflow. Default: any. */
  readonly runOptions?: readonly string[];
  /** Who sees the thoughts of new runs. Default: every reader of the run. */
  readonly thoughtPolicy?: PayloadOf<'run.started'>['thoughtPolicy'];
  /** Whether the loops of agents in new runs write rows for operators at every stage. Default false. */
  readonly internalEvents?: boolean;
  readonly report: Report;
  /** Removes known secrets from external data. Default: no redaction. */
  readonly redactor?: Redactor | null;
  /** Masks further texts in what callers send, except in values that are sealed. Default: none. */
  readonly entryMask?: Pick<Redactor, 'value'> | null;
  /** Whether a definition may be registered again with other content under the same version. Default false. */
  readonly replacesVersions?: boolean;
  /** Seals sensitive variables. Default: a workflow with such variables cannot run. */
  readonly vault?: Vault | null;
  /** The trace context below a call, for the runs that it starts. Default: each run is a trace of its own. */
  readonly traceOf?: TraceOf | undefined;
  /** How long a node that stops renewing keeps its leases. Default 30,000. */
  readonly leaseMs?: number;
}
