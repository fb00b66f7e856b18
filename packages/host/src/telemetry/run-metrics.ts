/** Run metrics as a fold of the rows: every count follows from the log alone. */
import { isJsonObject, type Json } from '@cairn/protocol';
import type { Row } from '../log/ports/rows.ts';
import { runInstruments as instruments } from './instruments.ts';
import { readMembers } from './json-members.ts';
import type { Recorder } from './meter.ts';

/** The fields of a row that metrics use. */
export type MetricRow = Pick<Row, 'at' | 'type' | 'nodeId' | 'payload'>;

interface Since {
  readonly kind: string;
  readonly nodeId: string;
  readonly at: number;
}

/** The state kept about a run until it ends: its open nodes, calls and interrupts with their start times. */
export interface OpenRun {
  readonly workflowId: string;
  readonly tenant: string;
  readonly startedAt: number;
  /** Repeats what was counted when it happened, so nothing of it is counted. */
  readonly isReplay: boolean;
  hasBegun: boolean;
  decisions: number;
  /** By node id: the node type, and the start of the current attempt. */
  readonly nodes: Map<string, Since>;
  /** By call id: the provider. */
  calls: Map<string, Since> | null;
  /** By interrupt id: its kind. */
  interrupts: Map<string, Since> | null;
}

export const openRun = (
  run: Pick<OpenRun, 'workflowId' | 'tenant' | 'startedAt' | 'isReplay' | 'hasBegun'>,
): OpenRun => ({
  ...run,
  decisions: 0,
  nodes: new Map(),
  calls: null,
  interrupts: null,
});

/** The state given by a run's first row. A replay repeats that of its source, which names another context. */
export function startedRun({ at, payload, contextId }: MetricRow & Pick<Row, 'contextId'>): OpenRun {
  const [workflowId, owner] = readMembers(payload, START);
  const tenant = isJsonObject(owner) ? textOf(owner.tenant) : '';
  const isReplay = payload.includes('"contextId":"') && !payload.includes(contextId);
  return openRun({ workflowId: textOf(workflowId), tenant, startedAt: at, isReplay, hasBegun: false });
}

/** The payload members that the handlers read. */
const START = ['workflowId', 'owner'];
const FORK = ['fromSeq'];
const NODE = ['typeId', 'attempt'];
const CALL_END = ['callId', 'error'];
const QUESTION = ['interruptId', 'kind'];
const ANSWER = ['interruptId', 'reason'];
const CAP = ['kind'];
const USAGE = ['provider', 'inputTokens', 'outputTokens', 'costEstimateUsd', 'currency'];
const DECISION = ['decision'];

type Handler = (run: OpenRun, row: MetricRow, recorder: Recorder) => void;

/** Counts the next row of a run. Rows of other types cost one map lookup. */
export function countRow(run: OpenRun, row: MetricRow, recorder: Recorder): void {
  if (!run.isReplay) handlers.get(row.type)?.(run, row, recorder);
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const seconds = (ms: number): number => Math.max(ms, 0) / 1000;

const runStarted: Handler = ({ workflowId, tenant }, _, recorder) => {
  recorder.add(instruments.created, [workflowId, tenant]);
  recorder.add(instruments.enqueued, [tenant]);
};

/** A branch after the first row of its source has no `run.started` of its own. */
const runForked: Handler = (run, row, recorder) => {
  const [fromSeq] = readMembers(row.payload, FORK);
  if (fromSeq !== 0) runStarted(run, row, recorder);
};

const runEnded: Handler = (run, { type, at }, recorder) => {
  const { workflowId, tenant } = run;
  for (const interrupt of run.interrupts?.values() ?? []) askedOver(interrupt, 'cancelled', at, recorder);
  const status = type.slice('run.'.length);
  recorder.add(instruments.completed, [status, workflowId, tenant]);
  recorder.record(instruments.duration, [status, workflowId, tenant], seconds(at - run.startedAt));
  if (run.decisions > 0) recorder.record(instruments.iterations, [workflowId, tenant], run.decisions);
};

const nodeStarted: Handler = (run, { at, nodeId, payload }, recorder) => {
  const [typeId, attempt] = readMembers(payload, NODE);
  const kind = textOf(typeId);
  if (!run.hasBegun) {
    run.hasBegun = true;
    recorder.record(instruments.backlog, [run.workflowId, run.tenant], seconds(at - run.startedAt));
  }
  if (typeof attempt === 'number' && attempt > 0) recorder.add(instruments.nodeAttempts, [kind]);
  run.nodes.set(nodeId ?? '', { kind, nodeId: nodeId ?? '', at });
};

/** The log does not hold the type of a node that ends without having started. */
const nodeEnded: Handler = (run, { at, nodeId, type }, recorder) => {
  const status = type.slice('node.'.length);
  const node = run.nodes.get(nodeId ?? '');
  for (const call of taken(run.calls, nodeId)) callOver(call, 'error', at, recorder);
  for (const interrupt of taken(run.interrupts, nodeId)) askedOver(interrupt, 'cancelled', at, recorder);
  recorder.add(instruments.nodeCompleted, [node?.kind ?? 'unknown', status]);
  if (node === undefined) return;
  recorder.record(instruments.nodeDuration, [node.kind, status], seconds(at - node.at));
  run.nodes.delete(nodeId ?? '');
};

/** Removes and returns the open entries of a node. */
function taken(open: Map<string, Since> | null, nodeId: string | null): readonly Since[] {
  if (open === null || open.size === 0) return [];
  const found: Since[] = [];
  for (const [key, since] of open) {
    if (since.nodeId !== nodeId) continue;
    open.delete(key);
    found.push(since);
  }
  return found;
}

const nodeRetried: Handler = (run, { at, nodeId }, recorder) => {
  const node = run.nodes.get(nodeId ?? '');
  if (node !== undefined) recorder.record(instruments.nodeDuration, [node.kind, 'failed'], seconds(at - node.at));
};

/** A second request with the same call id means that the first call was interrupted. */
const callStarted =
  (fields: readonly [callId: string, provider: string]): Handler =>
  (run, { at, nodeId, payload }, recorder) => {
    const [id, provider] = readMembers(payload, fields);
    const callId = textOf(id);
    run.calls ??= new Map();
    const before = run.calls.get(callId);
    if (before !== undefined) callOver(before, 'error', at, recorder);
    run.calls.set(callId, { kind: textOf(provider) || 'unknown', nodeId: nodeId ?? '', at });
  };

/** Reading stops at `outcome`, which may be large. The first of `outcome` and `error` decides. */
const callEnded: Handler = (run, { at, payload }, recorder) => {
  const [callId, error] = readMembers(payload, CALL_END, 'outcome');
  const call = run.calls?.get(textOf(callId));
  if (call === undefined) return;
  run.calls?.delete(textOf(callId));
  callOver(call, error === undefined ? 'success' : 'error', at, recorder);
};

function callOver({ kind, at: since }: Since, outcome: string, at: number, recorder: Recorder): void {
  recorder.add(instruments.activities, [kind, outcome]);
  recorder.record(instruments.activityDuration, [kind, outcome], seconds(at - since));
}

const asked: Handler = (run, { at, nodeId, payload }, recorder) => {
  const [interruptId, kind] = readMembers(payload, QUESTION);
  recorder.add(instruments.asked, [textOf(kind)]);
  run.interrupts ??= new Map();
  run.interrupts.set(textOf(interruptId), { kind: textOf(kind), nodeId: nodeId ?? '', at });
};

const answered: Handler = (run, { at, payload }, recorder) => {
  const [interruptId, reason] = readMembers(payload, ANSWER);
  const interrupt = run.interrupts?.get(textOf(interruptId));
  if (interrupt === undefined) return;
  run.interrupts?.delete(textOf(interruptId));
  askedOver(interrupt, reason === 'timeout' ? 'timeout' : 'resolved', at, recorder);
};

const askedOver = ({ kind, at: since }: Since, outcome: string, at: number, recorder: Recorder): void =>
  recorder.record(instruments.askedDuration, [kind, outcome], seconds(at - since));

const capBreached: Handler = (run, { payload }, recorder) =>
  recorder.add(instruments.capExceeded, [textOf(readMembers(payload, CAP)[0]), run.workflowId]);

const used: Handler = (_, { payload }, recorder) => {
  const [by, inputTokens, outputTokens, usd, currency] = readMembers(payload, USAGE);
  const provider = textOf(by);
  if (typeof inputTokens === 'number') recorder.add(instruments.tokens, [provider, 'input'], inputTokens);
  if (typeof outputTokens === 'number') recorder.add(instruments.tokens, [provider, 'output'], outputTokens);
  const isUsd = currency === undefined || currency === 'USD';
  if (isUsd && typeof usd === 'number') {
    recorder.add(instruments.cost, [provider, true], usd);
  }
};

const decided: Handler = (run, { payload }, recorder) => {
  const [decision] = readMembers(payload, DECISION);
  run.decisions += 1;
  const kind = isJsonObject(decision) ? textOf(decision.kind) : '';
  recorder.add(instruments.decisions, [kind, run.workflowId, run.tenant]);
};

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['run.started', runStarted],
  ['cairn.run.forked', runForked],
  ['run.completed', runEnded],
  ['run.failed', runEnded],
  ['run.cancelled', runEnded],
  ['node.started', nodeStarted],
  ['node.completed', nodeEnded],
  ['node.failed', nodeEnded],
  ['node.skipped', nodeEnded],
  ['node.cancelled', nodeEnded],
  ['node.retried', nodeRetried],
  ['cairn.step.requested', callStarted(['callId', 'step'])],
  ['cairn.model.requested', callStarted(['callId', 'provider'])],
  ['agent.toolCalled', callStarted(['callId', 'toolName'])],
  ['cairn.step.returned', callEnded],
  ['cairn.model.returned', callEnded],
  ['cairn.model.abandoned', callEnded],
  ['agent.toolReturned', callEnded],
  ['interrupt.requested', asked],
  ['interrupt.resolved', answered],
  ['cap.breached', capBreached],
  ['provider.usage', used],
  ['runOrchestrator.decided', decided],
]);

/** Events that occur a few times per run; node and call events occur by the thousand. */
export const rareTypes: ReadonlySet<string> = new Set([
  'run.started',
  'cairn.run.forked',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'interrupt.requested',
  'interrupt.resolved',
  'cap.breached',
]);

export const isRare = ({ type }: MetricRow): boolean => rareTypes.has(type);
