/** The run that requested a run, of this host or of another, as the first event of the run records it. */
import type { PayloadOf } from '../events/catalogue.ts';
import type { RemoteParent } from '../host/causation.ts';
import type { RunId } from '../ids.ts';

export interface LocalParent {
  readonly runId: RunId;
  /** The node that started the run. Absent in events of other hosts. */
  readonly nodeId: string | undefined;
  /** The agent that requested it; undefined if none did. */
  readonly agentId: string | undefined;
}

export type RunParent = ({ readonly kind: 'local' } & LocalParent) | ({ readonly kind: 'remote' } & RemoteParent);

/** Null if no run requested it. A fork begins with the event of its source, whose parent did not request the fork. */
export function parentOf(started: PayloadOf<'run.started'>): RunParent | null {
  const { remoteParent, parentRunId, parentNodeId, parentAgentId } = started;
  if (remoteParent !== undefined) return { ...remoteParent, kind: 'remote' };
  if (parentRunId === undefined) return null;
  return { kind: 'local', runId: parentRunId, nodeId: parentNodeId, agentId: parentAgentId };
}
