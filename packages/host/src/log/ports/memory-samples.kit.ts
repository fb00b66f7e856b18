/** Memory rows and queries shared by the memory suites; not shipped. */
import type { RunId } from '@cairn/protocol';
import { DROPPED, KEPT } from '../memory-changes.ts';
import type { Ports } from './contract.kit.ts';
import type { Append } from './event-log.ts';
import type { MemoryRecordQuery } from './memories.ts';
import type { NewRow } from './rows.ts';
import { context, creation, row } from './samples.kit.ts';

export type WithMemories = Ports<'log' | 'runIndex' | 'memories'>;

export const NOW = 5_000;

interface Sample {
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly expiresAt?: number;
  readonly memoryRef?: string;
  readonly turn?: string;
}

export const kept = (memoryId: string, { expiresAt, ...fields }: Sample = {}): NewRow =>
  row(KEPT, {
    audience: 'operator',
    payload: JSON.stringify({
      memoryRef: 'notes',
      memoryId,
      content: `content of ${memoryId}`,
      tags: [],
      turn: 't1',
      ...fields,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    }),
  });

export const dropped = (memoryId: string, turn = 't1'): NewRow =>
  row(DROPPED, { audience: 'operator', payload: JSON.stringify({ memoryRef: 'notes', memoryId, turn }) });

export const ofTenant = (runId: RunId, tenant: string, rows: readonly NewRow[]): Append =>
  creation(runId, { create: { tenant, contextId: `ctx_${runId}` as never, originRunId: runId }, rows });

export const childOf = (parentRunId: RunId, runId: RunId): Append =>
  creation(runId, { create: { tenant: 't', contextId: context, originRunId: runId, parentRunId } });

export const notes = (fields: Partial<MemoryRecordQuery> = {}): MemoryRecordQuery => ({
  tenant: 't',
  memoryRef: 'notes',
  now: NOW,
  limit: 100,
  ...fields,
});

export const ids = async (store: WithMemories, query: Partial<MemoryRecordQuery> = {}) =>
  (await store.memories.list(notes(query))).map(({ id }) => id);

export const found = async (store: WithMemories, text: string, query: Partial<MemoryRecordQuery> = {}) =>
  (await store.memories.search(notes(query), text)).map(({ id }) => id);
