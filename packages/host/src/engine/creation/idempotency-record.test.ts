import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, faulty, heldStep } from '../../../test/kit/engine-bench.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { IdempotencyClaim } from '../../log/ports/idempotency.ts';
import type { Store } from '../../log/ports/store.ts';
import type { IdempotentRequest } from '../engine.ts';

const place = { tenant: 't', endpoint: 'POST /x' };

/** A request that somebody took in hand; its recorded answer is the result as JSON. */
async function taken(
  { idempotency }: Store,
  key: string,
  more: Partial<IdempotencyClaim> = {},
): Promise<IdempotentRequest<object>> {
  const known = { ...place, key, requestDigest: 'd', owner: `owner of ${key}` };
  await idempotency.claim({ ...known, now: 0, until: 100, ...more });
  return { ...known, response: (result) => ({ status: 200, body: JSON.stringify(result) }) };
}

const recorded = async ({ idempotency }: Store, key: string) => idempotency.get({ ...place, key });

const has = (append: Append, type: string) => append.rows.some((row) => row.type === type);

test('commands that share an append are each recorded with it', async () => {
  const { store, node, begin } = bench();
  const appends: Append[] = [];
  const watched = faulty(store, (append) => {
    appends.push(append);
    return 'pass';
  });
  const engine = node('a', [], watched);
  const runId = await begin(engine, chain('core.approvalGate', 'core.approvalGate'));
  const [one, two] = [await taken(store, 'k1'), await taken(store, 'k2')];
  appends.length = 0;
  const answers = await Promise.all([
    engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' }, idempotency: one }),
    engine.cancel({ tenant: 't', runId, idempotency: two }),
  ]);
  expect(appends.map(({ idempotency }) => idempotency?.length)).toEqual([2]);
  const bodies = [await recorded(store, 'k1'), await recorded(store, 'k2')].map((record) => record?.body);
  expect(bodies).toEqual(answers.map((answer) => JSON.stringify(answer)));
});

test('what was recorded is what is answered, also when the acknowledgement was lost and the run is further on', async () => {
  const { store, node, begin, seen } = bench();
  const held = heldStep('work');
  const other = node('other', [held.step]);
  let isLost = false;
  const append = async (request: Append) => {
    const appended = await store.log.append(request);
    if (isLost || !has(request, 'interrupt.resolved')) return appended;
    isLost = true;
    await other.cancel({ tenant: 't', runId: request.runId });
    throw new Error('no answer');
  };
  const engine = node('a', [held.step], { ...store, log: { ...store.log, append } });
  const runId = await begin(engine, chain('core.approvalGate', 'local.step.work'));
  const idempotency = await taken(store, 'k');
  const answer = await engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' }, idempotency });
  await seen(runId, 'run.cancelled');
  expect((await recorded(store, 'k'))?.body).toBe(JSON.stringify(answer));
  expect(answer).toEqual({ nodeId: 'n1', status: 'running' });
});

test('a command for a run that another node holds is recorded with it too', async () => {
  const { store, node, begin } = bench();
  const held = heldStep('work');
  const runId = await begin(node('holder', [held.step]), chain('local.step.work'));
  await held.called(1);
  const other = node(
    'other',
    [held.step],
    faulty(store, (append) => (append.claim ? 'pass' : 'lose-answer')),
  );
  const idempotency = await taken(store, 'k');
  await expect(other.pause({ tenant: 't', runId, drainPolicy: 'immediate', idempotency })).rejects.toMatchObject({
    code: 'store_failed',
  });
  expect(await recorded(store, 'k')).toMatchObject({ state: 'completed', status: 200, body: '{"pausedAt":null}' });
});

test('a command that came to nothing is recorded by nobody, and one that changes nothing is left to its sender', async () => {
  const { store, node, begin } = bench();
  const engine = node(
    'a',
    [],
    faulty(store, (append) => (has(append, 'cairn.pause.requested') ? 'fail' : 'pass')),
  );
  const runId = await begin(engine, chain({ typeId: 'core.delay', config: { delayMs: 1_000 } }));
  const [failed, empty] = [await taken(store, 'failed'), await taken(store, 'empty')];
  await expect(engine.pause({ tenant: 't', runId, drainPolicy: 'immediate', idempotency: failed })).rejects.toThrow(
    'no',
  );
  const ended = await begin(engine, { ...chain('core.noop'), id: 'short' });
  expect(await engine.cancel({ tenant: 't', runId: ended, idempotency: empty })).toEqual({ status: 'completed' });
  for (const key of ['failed', 'empty']) expect(await recorded(store, key)).toMatchObject({ state: 'pending' });
});

test('a command whose key was given to another meanwhile is refused and changes nothing, and holds nobody up', async () => {
  const { store, clock, node, begin, types } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain('core.approvalGate', 'core.approvalGate'));
  const late = await taken(store, 'k');
  await taken(store, 'k', { owner: 'next', now: 100, until: 200 });
  const answered = engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' } });
  const cancelled = engine.cancel({ tenant: 't', runId, idempotency: late });
  await expect(cancelled).rejects.toMatchObject({ code: 'idempotency_in_flight', retryable: true });
  clock.advance(5_000);
  expect(await answered).toMatchObject({ nodeId: 'n1' });
  expect(await types(runId)).not.toContain('cairn.cancel.requested');
  expect(await recorded(store, 'k')).toMatchObject({ state: 'pending', owner: 'next' });
});

test('through the lease of another node, too, a key that was given to another is refused', async () => {
  const { store, node, begin, types } = bench();
  const held = heldStep('work');
  const runId: RunId = await begin(node('holder', [held.step]), chain('local.step.work'));
  await held.called(1);
  const late = await taken(store, 'k');
  await taken(store, 'k', { owner: 'next', now: 100, until: 200 });
  const cancelled = node('other', [held.step]).cancel({ tenant: 't', runId, idempotency: late });
  await expect(cancelled).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  expect(await types(runId)).not.toContain('cairn.cancel.requested');
});
