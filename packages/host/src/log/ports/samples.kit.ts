/** Rows and appends shared by the contract suites; not shipped. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Append } from './event-log.ts';
import type { NewRow } from './rows.ts';

export const runA = 'run_a' as RunId;
export const runB = 'run_b' as RunId;
export const context = 'ctx_one' as ContextId;

export function row(type: string, fields: Partial<NewRow> = {}): NewRow {
  return { at: 1_000, type, audience: 'client', payload: '{}', task: null, ...fields };
}

export const started = (fields: object = {}, at = 1_000): NewRow =>
  row('run.started', {
    at,
    payload: JSON.stringify({
      workflowId: 'wf',
      definitionHash: 'd1',
      owner: { tenant: 't', principal: 'ada' },
      tags: ['red'],
      ...fields,
    }),
  });

export const asked = (interruptId: string, kind = 'approval', at = 1_000): NewRow =>
  row('interrupt.requested', { at, nodeId: 'gate', payload: JSON.stringify({ interruptId, kind, nodeId: 'gate' }) });

export const resolved = (interruptId: string, at = 1_000): NewRow =>
  row('interrupt.resolved', { at, nodeId: 'gate', payload: JSON.stringify({ interruptId, nodeId: 'gate' }) });

/** The first append of a run. */
export function creation(runId: RunId, fields: Partial<Append> = {}): Append {
  const { create, ...rest } = fields;
  return {
    runId,
    rows: [started()],
    create: { tenant: 't', contextId: context, originRunId: runId, ...create },
    ...rest,
  };
}

/** A lease that lasts from 0 to 10,000. */
export const lease = (owner: string, now = 0, until = 10_000) => ({ owner, now, until });
