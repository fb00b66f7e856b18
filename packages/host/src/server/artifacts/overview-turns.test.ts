import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { FairTurns } from '../../fair-turns.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { creation } from '../../log/ports/samples.kit.ts';
import { createPageCursors } from '../http/page-cursors.ts';
import type { Call, KeyedRoute } from '../http/routes.ts';
import { hostSecret } from '../secrets/host-secret.ts';
import { artifactOverviewRoute } from './overview.ts';

test('many requests at once look at a few contexts in each turn of the event loop', async () => {
  const store = inMemoryStore();
  for (let i = 0; i < 100; i += 1) {
    const runId = `run_${i}` as RunId;
    const create = { tenant: 't', contextId: `ctx_${i}` as ContextId, originRunId: runId };
    await store.log.append(creation(runId, { create }));
  }
  const coming: (() => void)[] = [];
  const turns = new FairTurns({ budget: 262_144, nextTurn: (begin) => void coming.push(begin) });
  let looked = 0;
  const artifacts: typeof store.artifacts = {
    ...store.artifacts,
    list: (...asked) => {
      looked += 1;
      return store.artifacts.list(...asked);
    },
  };
  const cursors = createPageCursors(hostSecret({ folder: null })('list-cursor'));
  const route = artifactOverviewRoute({ store: { ...store, artifacts }, cursors, turns }) as KeyedRoute;
  const call = { caller: { tenant: 't' }, request: { query: {} } } as Call;
  const all = Promise.all(Array.from({ length: 5 }, () => route.handle(call)));
  const perTurn: number[] = [];
  for (let done = false; !done; ) {
    const before = looked;
    for (const begin of coming.splice(0)) begin();
    for (let i = 0; i < 1_000; i += 1) await null;
    perTurn.push(looked - before);
    done = coming.length === 0;
  }
  await all;
  expect(looked).toBe(500);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(20);
});
