/**
 * Cuts a tree of runs at one cursor of its context: each run shares its rows up to there. Children that had already ended
 * stay as they are, children that had not started yet are started again, and the others are forked with their parent.
 */
import { type ContextId, forkedChildIdOf, type RunId, TerminalError } from '@cairn/protocol';
import type { RunHead } from '../../log/ports/event-log.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { stamp } from '../core/stamp.ts';
import type { ForkPorts } from './fork-ports.ts';
import { type CutPlace, type RunCut, runCut } from './run-cut.ts';
import type { TreePlace } from './tree-place.ts';

/**
 * Maximum number of runs in one fork: more than a dispatch starts in parallel. One commit writes all of them in one turn
 * of the event loop: 300 take about 15 ms, 500 about 40 ms.
 */
const MAX_FORKED_RUNS = 300;

/** A run of the tree, folded up to the cut. */
export interface CutRun extends RunCut {
  readonly place: CutPlace;
  readonly tree: TreePlace;
  /** The fork of its parent; null for the topmost run. */
  readonly parentRunId: RunId | null;
  /** The repeated rows, which the fork writes first. */
  readonly rows: NewRow[];
  /** The children that were open at the cut, and the runs that take their places. */
  readonly children: Readonly<Record<RunId, RunId>>;
}

/** What a fork does with a child of its source. `anew`: the child starts after the cut, so the fork starts it again. */
type Fate =
  | { readonly kind: 'kept' }
  | { readonly kind: 'anew' }
  | { readonly kind: 'forked'; readonly head: RunHead; readonly fromSeq: number };

/** The cut runs, a parent before its children. The first one is the top of the tree. */
export async function cutTree(
  ports: ForkPorts,
  tree: TreePlace,
  { runId, contextId }: { readonly runId: RunId; readonly contextId: ContextId },
): Promise<readonly [CutRun, ...CutRun[]]> {
  const { top } = tree;
  const place = { source: top.head.record, fromSeq: top.fromSeq, runId, contextId };
  const first = await cutRun(ports, tree, { place, parentRunId: null });
  const runs: [CutRun, ...CutRun[]] = [first.run];
  const waiting = [...first.below];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { run, below } = await cutRun(ports, tree, next);
    runs.push(run);
    waiting.push(...below);
    if (runs.length + waiting.length > MAX_FORKED_RUNS) throw tooManyRuns(tree);
  }
  return runs;
}

interface Wanted {
  readonly place: CutPlace;
  readonly parentRunId: RunId | null;
}

async function cutRun(
  ports: ForkPorts,
  tree: TreePlace,
  { place, parentRunId }: Wanted,
): Promise<{ readonly run: CutRun; readonly below: readonly Wanted[] }> {
  const { contextId, runId, fromSeq } = place;
  const cut = await runCut(ports, place);
  const { state, workflow, repeated } = cut;
  const rows = stamp(state, workflow, repeated, fromSeq > 1 ? state.now : Math.max(ports.clock.now(), state.now));
  const children: Record<RunId, RunId> = {};
  const below: Wanted[] = [];
  for (const child of Object.values(state.children)) {
    const fate = await fateOf(ports, tree, child.runId);
    if (fate.kind === 'kept') continue;
    const forkId = forkedChildIdOf(runId, child.runId);
    children[child.runId] = forkId;
    if (fate.kind === 'anew') continue;
    const { head, fromSeq } = fate;
    below.push({ place: { source: head.record, fromSeq, runId: forkId, contextId }, parentRunId: runId });
    if (below.length > MAX_FORKED_RUNS) throw tooManyRuns(tree);
  }
  return { run: { ...cut, place, tree, parentRunId, rows, children }, below };
}

async function fateOf({ store }: ForkPorts, { cursor, focus }: TreePlace, runId: RunId): Promise<Fate> {
  const head = await store.log.head(runId);
  if (head === null) return { kind: 'anew' };
  if (runId === focus.runId) return { kind: 'forked', head, fromSeq: focus.fromSeq };
  const fromSeq = await store.log.rowsUntil(runId, cursor);
  if (fromSeq === 0) return { kind: 'anew' };
  return fromSeq > head.seq && head.record.endedAt !== null ? { kind: 'kept' } : { kind: 'forked', head, fromSeq };
}

const tooManyRuns = ({ focus: { runId, fromSeq } }: TreePlace): TerminalError =>
  new TerminalError('conflict', {
    message: `More than ${MAX_FORKED_RUNS} runs of the tree are active where run ${runId} would be cut at ${fromSeq}; a fork begins at most ${MAX_FORKED_RUNS} runs.`,
    hint: 'Fork before the node that starts them, or once some of them have ended; or fork one of them.',
    details: { sourceRunId: runId, fromSeq, maxRuns: MAX_FORKED_RUNS },
  });
