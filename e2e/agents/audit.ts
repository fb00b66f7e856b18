/** Checks the invariants of a finished run against its rows and the external counts. Pure. */
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { Breach } from '../crash/breach.ts';
import type { Entry } from '../crash/journal.ts';

export interface Counted {
  readonly rows: readonly RunEventDoc[];
  /** Tool entries of this run. */
  readonly entries: readonly Entry[];
  /** Number of model requests for each turn of this run, keyed by `agent/turn`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Calls that a person allowed to run again. */
  readonly allowedAgain: readonly string[];
}

interface Call {
  readonly callId: string;
  readonly kind: 'model' | 'tool';
  readonly safety: string;
  agentId: string;
  attempts: number;
  /** Number of rows that closed the call. */
  closed: number;
  askedAfterClose: number;
}

const opens = new Set(['cairn.model.requested', 'agent.toolCalled', 'cairn.step.requested']);
const closes = new Set(['cairn.model.returned', 'agent.toolReturned']);

export function auditRun({ rows, entries, asked, allowedAgain }: Counted): readonly Breach[] {
  const breaches: Breach[] = [];
  const complain = (promise: string, facts: JsonObject): void => void breaches.push({ promise, facts });
  const last = rows.at(-1);
  if (last?.type !== 'run.completed') complain('the run finishes by itself', { last: last?.type ?? null });
  for (const [i, row] of rows.entries()) {
    if (row.sequence !== i) complain('rows are dense', { at: i, sequence: row.sequence });
  }
  const calls = callsOf(rows);
  for (const { callId, closed, askedAfterClose } of calls.values()) {
    if (closed !== 1) complain('every call is closed once', { callId, closed });
    if (askedAfterClose > 0) complain('a call whose result is recorded is not asked for again', { callId });
  }
  toolBreaches(calls, entries, allowedAgain, complain);
  modelBreaches(calls, asked, complain);
  return breaches;
}

type Complain = (promise: string, facts: JsonObject) => void;

function callsOf(rows: readonly RunEventDoc[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  for (const { type, payload } of rows) {
    const { callId, safety, agentId, status } = fields(payload ?? {});
    if (typeof callId !== 'string') continue;
    const known = calls.get(callId);
    if (closes.has(type) && known !== undefined) known.closed += 1;
    // A call refused before it began has no attempt.
    if (!opens.has(type) || status === 'forbidden') continue;
    if (known === undefined) {
      const kind = type === 'cairn.model.requested' ? 'model' : 'tool';
      const fresh = { callId, kind, safety: String(safety), agentId: String(agentId), attempts: 1 } as const;
      calls.set(callId, { ...fresh, closed: 0, askedAfterClose: 0 });
      continue;
    }
    known.attempts += 1;
    if (known.closed > 0) known.askedAfterClose += 1;
  }
  return calls;
}

function toolBreaches(
  calls: ReadonlyMap<string, Call>,
  entries: readonly Entry[],
  allowedAgain: readonly string[],
  complain: Complain,
): void {
  const seen = new Set<string>();
  for (const { callId, attempt, safety } of entries) {
    const call = calls.get(callId);
    if (call === undefined) complain('no tool runs before its call is recorded', { callId });
    else if (attempt > call.attempts) complain('no tool runs more often than it was asked for', { callId, attempt });
    if (seen.has(`${callId} ${attempt}`)) complain('no attempt of a tool happens twice', { callId, attempt });
    seen.add(`${callId} ${attempt}`);
    const times = entries.filter((entry) => entry.callId === callId).length;
    const allowed = 1 + allowedAgain.filter((other) => other === callId).length;
    if (safety === 'write' && times > allowed) {
      complain('a write happens again only when a person says so', { callId, times, allowed });
    }
  }
}

/** The model identifies a turn, and its call, by agent and turn number. */
function modelBreaches(calls: ReadonlyMap<string, Call>, asked: ReadonlyMap<string, number>, complain: Complain): void {
  const attempts = new Map<string, number>();
  const turns = new Map<string, number>();
  for (const { kind, agentId, attempts: made } of calls.values()) {
    if (kind !== 'model') continue;
    const agent = agentId.split('.').at(-1) ?? '';
    const turn = turns.get(agent) ?? 0;
    turns.set(agent, turn + 1);
    attempts.set(`${agent}/${turn}`, made);
  }
  for (const [name, times] of asked) {
    const made = attempts.get(name) ?? 0;
    if (times > made)
      complain('the model is asked no more often than is recorded', { turn: name, times, recorded: made });
  }
  for (const name of attempts.keys()) {
    if (!asked.has(name)) complain('what the model said was asked of it', { turn: name });
  }
}
