/** What agents do on a real host, as the task view shows it: rows of the loop, the models and the tools together. */
import { join } from 'node:path';
import { eventPayloads, isEventType, type JsonObject, type RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { Engine } from '../../engine/engine.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { createHostOver } from '../create-host.ts';

const packs = join(import.meta.dirname, '../../../../../packs');

async function packHost(pack: string): Promise<{ engine: Engine; store: Store }> {
  const store = inMemoryStore();
  const config = { packs: [join(packs, pack)] };
  const host = await createHostOver(store, { config, http: false, allowUnsignedPacks: true, report: () => undefined });
  onTestFinished(() => host.close());
  return { engine: host.engine, store };
}

/** The rows once one of these types is there. */
async function rowsUntil(store: Store, runId: RunId, types: readonly string[]): Promise<readonly Row[]> {
  for (;;) {
    const seen = new Promise<void>((resolve) => {
      const stop = store.log.follow((commit) => {
        if (commit.runId !== runId) return;
        stop();
        resolve();
      });
    });
    const rows = await store.log.read({ runId, after: -1, limit: 100_000 });
    if (rows.some(({ type }) => types.includes(type))) return rows;
    await seen;
  }
}

const facesOf = (rows: readonly Row[]): JsonObject[] =>
  rows.flatMap(({ task }) => (task === null ? [] : [JSON.parse(task) as JsonObject]));

const ends = ['run.completed', 'run.failed', 'run.cancelled'];

test('a crew at work: every text is whole, every tool call ends, everybody is named, and every payload is as it should be', async () => {
  const { engine, store } = await packHost('research-crew');
  const start = { tenant: 'local', workflowId: 'research-crew', inputs: { topic: 'cairns' }, options: {} };
  const { runId } = await engine.start(start);
  const rows = await rowsUntil(store, runId, ends);
  for (const { type, payload } of rows) {
    if (isEventType(type)) expect(eventPayloads[type].safeParse(JSON.parse(payload)).error, type).toBeUndefined();
  }
  const faces = facesOf(rows);
  expect(faces.at(-1)?.kind).toBe('task-complete');
  const blocks = new Map<unknown, string>();
  const calls = new Map<unknown, number>();
  for (const face of faces) {
    if (face.kind === 'content-delta') {
      expect(face.agentId).toMatch(/^community\.cairn\.research-crew\./);
      blocks.set(face.contentId, (blocks.get(face.contentId) ?? '') + String(face.delta));
    }
    if (face.kind === 'content-complete') expect(face.content).toBe(blocks.get(face.contentId) ?? '');
    if (face.kind === 'tool-start') calls.set(face.toolCallId, 0);
    if (face.kind === 'tool-complete') calls.set(face.toolCallId, (calls.get(face.toolCallId) ?? -9) + 1);
  }
  const closed = faces.filter(({ kind }) => kind === 'content-complete').map(({ contentId }) => contentId);
  expect(new Set(closed)).toEqual(new Set(blocks.keys()));
  expect(calls.size).toBeGreaterThan(0);
  for (const count of calls.values()) expect(count).toBe(1);
  const kinds = new Set(faces.map(({ kind }) => kind));
  for (const kind of ['thought-stream', 'llm-usage', 'tool-start']) expect(kinds).toContain(kind);
  expect(faces.filter(({ metadata }) => (metadata as JsonObject | undefined)?.handoffTo !== undefined)).not.toEqual([]);
  // Nodes that are agents are the task at work, not calls of it.
  expect(faces.filter(({ toolName }) => toolName === 'cairn.agent')).toEqual([]);
});

test('a decision that is held is asked as a question of its agent, and the run waits for approval', async () => {
  const { engine, store } = await packHost('support-triage');
  const inputs = { ticket: 'My order came twice and I was billed twice.' };
  const { runId } = await engine.start({ tenant: 'local', workflowId: 'support-triage', inputs, options: {} });
  const faces = facesOf(await rowsUntil(store, runId, ['interrupt.requested', ...ends]));
  const asked = faces.find(({ kind }) => kind === 'input-required');
  expect(asked).toMatchObject({
    agentId: 'community.cairn.support-triage.triage',
    metadata: { reason: 'low-confidence', threshold: expect.any(Number), observed: expect.any(Number) },
  });
  expect(faces.filter(({ status }) => status === 'waiting-input')).toMatchObject([
    { metadata: { pending: [{ type: 'input', id: asked?.inputId }] } },
  ]);
});
