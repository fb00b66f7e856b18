import { expect, test } from 'vitest';
import { manualLoop } from '../../engine/shares/manual-loop.kit.ts';
import { openedInTurns } from './openings.ts';
import type { Call, KeyedRoute } from './routes.ts';

const callOf = (tenant: string): Call => ({ caller: { tenant } }) as Call;

function opened(more: Partial<KeyedRoute>, holds = true) {
  const loop = manualLoop();
  const begun: string[] = [];
  const route: KeyedRoute = {
    method: 'GET',
    path: '/v1/watched',
    scope: 'runs:read',
    ...(holds && { holds }),
    doc: { id: 'watch', summary: 'Watch', responses: {} },
    handle: async ({ caller }) => {
      begun.push(caller.tenant);
      return '';
    },
    ...more,
  };
  const { handle } = openedInTurns(loop)(route) as KeyedRoute;
  return { loop, begun, open: (tenant: string) => handle(callOf(tenant)) };
}

const many = 100;

test('requests that may stay open begin in turns, those that start a run fewer in each', async () => {
  const counts = await Promise.all(
    (['GET', 'POST'] as const).map(async (method) => {
      const { loop, begun, open } = opened({ method });
      const all = Promise.all(Array.from({ length: many }, () => open('t')));
      await loop.turn();
      const first = begun.length;
      while (begun.length < many) await loop.turn();
      await all;
      return first;
    }),
  );
  const [reads = 0, starts = 0] = counts;
  expect(reads).toBeLessThan(40);
  expect(starts).toBeLessThan(reads);
});

test('a route that says what a request takes later has as many begin in a turn as fit in it', async () => {
  const { loop, begun, open } = opened({ method: 'POST', laterMs: () => 5 });
  const all = Promise.all(Array.from({ length: many }, () => open('t')));
  await null;
  expect(begun).toHaveLength(1);
  for (let turn = 2; turn <= 10; turn += 1) {
    await loop.turn();
    expect(begun).toHaveLength(turn);
  }
  while (begun.length < many) await loop.turn();
  await all;
});

test('a tenant that opens one does not wait for the many of another one', async () => {
  const { loop, begun, open } = opened({ laterMs: () => 5 });
  const all = Promise.all([...Array.from({ length: many }, () => open('many')), open('one')]);
  await loop.turn();
  await loop.turn();
  expect(begun).toContain('one');
  while (begun.length <= many) await loop.turn();
  await all;
});

test('a request that does not stay open begins at once', async () => {
  const { begun, open } = opened({}, false);
  await Promise.all(Array.from({ length: many }, () => open('t')));
  expect(begun).toHaveLength(many);
});
