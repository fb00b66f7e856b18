/** Moves a run through its graph: edge outcomes arrive at nodes, make them ready or unreachable, and are consumed. */
import type { CompiledEdge, CompiledNode, Workflow } from '../workflow/workflow.ts';
import { nodeById } from './node-of.ts';
import type { EdgeOutcome, Queued, RunState } from './state.ts';
import { reenters, verdict } from './trigger-rules.ts';

/** Adds a node to a queue unless it is already queued. */
export function enqueue(state: RunState, node: CompiledNode, queue: Queued[], entry: Queued): void {
  if (state.queued[entry.nodeId]) return;
  state.queued[entry.nodeId] = true;
  queue.push(entry);
  for (const loop of node.loops) state.live[loop] = (state.live[loop] ?? 0) + 1;
}

/** Removes a node from a queue and returns its entry, or undefined. The node is almost always the first entry. */
export function dequeue(state: RunState, queue: Queued[], nodeId: string): Queued | undefined {
  const index = queue[0]?.nodeId === nodeId ? 0 : queue.findIndex((entry) => entry.nodeId === nodeId);
  if (index < 0) return undefined;
  delete state.queued[nodeId];
  return index === 0 ? queue.shift() : queue.splice(index, 1)[0];
}

/** Records the outcome of an edge, caused by the event `cause`. */
export function settle(
  state: RunState,
  workflow: Workflow,
  edge: CompiledEdge,
  outcome: EdgeOutcome,
  cause: number,
): void {
  if (edge.back) {
    if (!reenters(edge.rule, outcome)) return;
    state.loopbacks[edge.id] = (state.loopbacks[edge.id] ?? 0) + 1;
    const head = nodeById(workflow, edge.target);
    enqueue(state, head, state.ready, { nodeId: edge.target, cause, edge: edge.id });
    return;
  }
  if (edge.exits !== null) {
    // A later iteration may still take the exit: untaken is final only once the loop is idle.
    if (outcome === 'not-taken') {
      state.exits[edge.id] ??= 'untaken';
      return;
    }
    state.exits[edge.id] = 'used';
  }
  arrive(state, workflow, edge, outcome, cause);
}

function arrive(state: RunState, workflow: Workflow, edge: CompiledEdge, outcome: EdgeOutcome, cause: number): void {
  const late = state.late[edge.id];
  if (late !== undefined) {
    // A loop may take an exit many times. Its target has already started and ignores later outcomes until the loop is
    // idle.
    if (edge.exits !== null) return;
    if (late > 1) state.late[edge.id] = late - 1;
    else delete state.late[edge.id];
    return;
  }
  const target = nodeById(workflow, edge.target);
  const counts = countsOf(state, target);
  const earlier = state.edges[edge.id];
  if (earlier !== undefined) counts[slot(edge, earlier)] = (counts[slot(edge, earlier)] as number) - 1;
  state.edges[edge.id] = outcome;
  counts[slot(edge, outcome)] = (counts[slot(edge, outcome)] as number) + 1;
  consider(state, target, counts, cause);
}

const slots = { taken: 0, 'not-taken': 1, failed: 2 } as const;
const slot = (edge: CompiledEdge, outcome: EdgeOutcome): number => edge.group * 3 + slots[outcome];

function countsOf(state: RunState, target: CompiledNode): number[] {
  const known = state.arrivals[target.id];
  if (known !== undefined) return known;
  const fresh = new Array<number>(target.groups.length * 3).fill(0);
  state.arrivals[target.id] = fresh;
  return fresh;
}

/** A node starts if every group of its edges holds. It becomes unreachable if any group can no longer hold. */
function consider(state: RunState, target: CompiledNode, counts: readonly number[], cause: number): void {
  let holds = true;
  for (let i = 0; i < target.groups.length; i++) {
    const group = target.groups[i] as { rule: CompiledEdge['rule']; size: number };
    const found = verdict(group.rule, {
      total: group.size,
      taken: counts[i * 3] as number,
      notTaken: counts[i * 3 + 1] as number,
      failed: counts[i * 3 + 2] as number,
    });
    if (found === 'dead') {
      enqueue(state, target, state.unreachable, { nodeId: target.id, cause });
      return;
    }
    if (found === 'open') holds = false;
  }
  if (holds) enqueue(state, target, state.ready, { nodeId: target.id, cause });
}

/** Consumes the outcomes that have arrived at a node that starts or is skipped. Marks its other edges as late. */
export function consume(state: RunState, node: CompiledNode): void {
  for (const edge of node.in) {
    if (state.edges[edge.id] !== undefined) delete state.edges[edge.id];
    else state.late[edge.id] = (state.late[edge.id] ?? 0) + 1;
  }
  delete state.arrivals[node.id];
}

/**
 * Removes a node that is neither active nor queued from its loops. A loop without live nodes is idle: its exits become
 * final.
 */
export function leaveLoops(state: RunState, workflow: Workflow, node: CompiledNode, cause: number): void {
  for (const loop of node.loops) {
    const live = (state.live[loop] as number) - 1;
    if (live > 0) {
      state.live[loop] = live;
      continue;
    }
    delete state.live[loop];
    for (const edge of workflow.loopExits[loop] as readonly CompiledEdge[]) {
      const exit = state.exits[edge.id];
      delete state.exits[edge.id];
      if (exit === 'untaken') arrive(state, workflow, edge, 'not-taken', cause);
      delete state.late[edge.id];
    }
  }
}
