/** Folds rows into the states of the workflow's nodes and the outcomes of its edges. */
import type { RunRow } from './run-row.ts';

export type NodeStatus = 'running' | 'waiting' | 'retrying' | 'completed' | 'failed' | 'skipped' | 'cancelled';

export interface NodeState {
  readonly status: NodeStatus;
  readonly typeId: string | undefined;
  readonly agentId: string | undefined;
  readonly visits: number;
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** The last row about it. */
  readonly seq: number;
}

export type EdgeOutcome = 'taken' | 'not-taken' | 'failed';

const statusAfter = {
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.suspended': 'waiting',
  'node.resumed': 'running',
  'node.retried': 'retrying',
} as const;

/** Both maps have at most as many entries as the definition has nodes and edges. */
export class NodeStates {
  readonly nodes: Map<string, NodeState>;
  readonly edges: Map<string, EdgeOutcome>;

  constructor(origin?: NodeStates) {
    this.nodes = new Map(origin?.nodes);
    this.edges = new Map(origin?.edges);
  }

  fork(): NodeStates {
    return new NodeStates(this);
  }

  take(row: RunRow): void {
    const { nodeId, seq, at } = row;
    if (nodeId === undefined) return;
    const known = this.nodes.get(nodeId);
    switch (row.type) {
      case 'node.started': {
        const { typeId, agent, visit = 0, attempt = 0 } = row.payload;
        const state = { status: 'running', typeId, agentId: agent?.agentId, endedAt: null, seq } as const;
        const startedAt = attempt > 0 && known !== undefined ? known.startedAt : at;
        this.nodes.set(nodeId, { ...state, startedAt, visits: visit + 1, attempts: attempt + 1 });
        return;
      }
      case 'node.completed':
      case 'node.failed':
      case 'node.skipped':
        for (const [edge, outcome] of Object.entries(row.payload.edges ?? {})) this.edges.set(edge, outcome);
        this.#become(row, nodeId, at);
        return;
      case 'node.cancelled':
        this.#become(row, nodeId, at);
        return;
      case 'node.suspended':
      case 'node.resumed':
      case 'node.retried':
        this.#become(row, nodeId, null);
        return;
    }
  }

  #become(row: Extract<RunRow, { type: keyof typeof statusAfter }>, nodeId: string, endedAt: number | null): void {
    const known = this.nodes.get(nodeId);
    const rest = known ?? { typeId: undefined, agentId: undefined, visits: 1, attempts: 1, startedAt: row.at };
    this.nodes.set(nodeId, { ...rest, status: statusAfter[row.type], endedAt, seq: row.seq });
  }
}
