/** Loads the state of a source at the cut, as that of its branch. Folds from the nearest checkpoint, however long the run is. */
import { type ContextId, foldEventOf, type RunId, row } from '@cairn/protocol';
import { rowBytes } from '../../log/ports/row-bytes.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { evolve } from '../core/evolve.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { Draft, RunState } from '../core/state.ts';
import { foldToCut, MAX_DECISION_ROWS } from '../fork/cut-decision.ts';
import { payloadBytes } from '../loading/checkpoints.ts';
import { stateAs } from '../loading/nearest-state.ts';
import type { LoadedCheckpoint } from '../loading/recent-states.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { ForkPorts } from './fork-ports.ts';

/** Where a source is cut, and the run that continues from there. */
export interface CutPlace {
  readonly source: RunRecord;
  /** The first seq that is not shared. */
  readonly fromSeq: number;
  /** Of the branch. */
  readonly runId: RunId;
  readonly contextId: ContextId;
}

export interface RunCut {
  readonly state: RunState;
  readonly workflow: Workflow;
  /** Rows of the source that the branch writes again: the rest of a decision that the cut divides, or the start of the run. */
  readonly repeated: readonly Draft[];
  /** What the state was folded from, as of the cut. */
  readonly checkpoint: LoadedCheckpoint;
}

export async function runCut(ports: ForkPorts, place: CutPlace): Promise<RunCut> {
  const { source, fromSeq, runId } = place;
  if (fromSeq <= 1) return cutAtStart(ports, place);
  const from = Math.max(0, fromSeq - MAX_DECISION_ROWS);
  const {
    state: before,
    workflow,
    checkpoint,
  } = await (from === 0 ? fromStart(ports, place) : loaded(ports, place, from));
  const state = stateAs(runId, before);
  const tail = await rowsFrom(ports, source.runId, state.nextSeq, fromSeq - state.nextSeq + 1);
  const repeated = foldToCut(state, workflow, tail, fromSeq);
  const tailBytes = checkpoint.tailBytes + payloadBytes(tail);
  return { state, workflow, repeated, checkpoint: { ...checkpoint, tailBytes } };
}

const loaded = ({ loader }: ForkPorts, { source }: CutPlace, nextSeq: number) =>
  loader.loadAt(source.runId, nextSeq - 1, source.tenant);

const noCheckpoint: LoadedCheckpoint = { seq: -1, bytes: 0, tailBytes: 0 };

/** The state after the first row: a run has its pins once that is folded. */
async function fromStart(ports: ForkPorts, { source, runId }: CutPlace): Promise<Omit<RunCut, 'repeated'>> {
  const shared = await ports.workflows.byHash(source.tenant, source.definitionHash);
  const state = newRunState(runId, source.originRunId);
  for (const stored of await rowsFrom(ports, source.runId, 0, 1)) {
    evolve(state, shared, foldEventOf(stored));
    state.logBytes += rowBytes(stored);
  }
  return { state, workflow: await ports.pins.give(shared, state), checkpoint: noCheckpoint };
}

/** A run needs its first row and the values that its inputs refer to, even if the cut is earlier. */
async function cutAtStart(ports: ForkPorts, place: CutPlace): Promise<RunCut> {
  const { source, fromSeq, runId, contextId } = place;
  const begun = await fromStart(ports, place);
  const rows = await rowsFrom(ports, source.runId, fromSeq, 2 - fromSeq);
  const repeated = rows.flatMap((stored): Draft[] => {
    const event = foldEventOf(stored);
    if (event.type === 'run.started') return [row('run.started', { ...event.payload, contextId })];
    return event.type === 'cairn.values.sealed' ? [row('cairn.values.sealed', event.payload)] : [];
  });
  return fromSeq === 1 ? { ...begun, repeated } : { ...begun, state: newRunState(runId, source.originRunId), repeated };
}

async function rowsFrom({ store }: ForkPorts, runId: RunId, from: number, count: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  while (rows.length < count) {
    const page = await store.log.read({ runId, after: from - 1 + rows.length, limit: count - rows.length });
    if (page.length === 0) break;
    rows.push(...page);
  }
  return rows;
}
