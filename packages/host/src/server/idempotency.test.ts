import { TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { memoryStore } from '../log/memory.ts';
import type { IdempotencyRecord, Records } from '../log/port.ts';
import { createOnce, type OnceWork } from './idempotency.ts';

const request = { tenant: 't', endpoint: 'POST /v1/runs', key: 'k', body: { a: 1 } };

/** Records in which outcomes appear as the test says. */
function recording() {
  const kept = new Map<string, IdempotencyRecord>();
  const records: Records = {
    ...memoryStore().records,
    idempotency: async (_tenant, _endpoint, key) => kept.get(key) ?? null,
  };
  const keep = (requestDigest: string, body: string) =>
    void kept.set('k', { ...request, requestDigest, status: 201, body, at: 0 });
  return { once: createOnce(records), keep };
}

const conflict = () => new TerminalError('conflict', { message: 'somebody was first' });

test('a request that is under way is waited for, not carried out again', async () => {
  const { once, keep } = recording();
  const gate = Promise.withResolvers<void>();
  let works = 0;
  const work: OnceWork = async (digest) => {
    works += 1;
    await gate.promise;
    keep(digest, 'first');
    return { status: 201, body: 'first' };
  };
  const answers = Promise.all([once(request, work), once(request, work), once(request, work)]);
  gate.resolve();
  expect((await answers).map(({ body, replayed }) => `${body} ${replayed}`)).toEqual([
    'first false',
    'first true',
    'first true',
  ]);
  expect(works).toBe(1);
});

test('the next in line carries the request out when the first one failed', async () => {
  const { once, keep } = recording();
  const failing = once(request, () => Promise.reject(new Error('no')));
  const next = once(request, async (digest) => {
    keep(digest, 'second');
    return { status: 201, body: 'second' };
  });
  await expect(failing).rejects.toThrow('no');
  expect(await next).toEqual({ status: 201, body: 'second', replayed: false });
});

test('gives the answer of another node that was first', async () => {
  const { once, keep } = recording();
  const answer = await once(request, async (digest) => {
    keep(digest, 'theirs');
    throw conflict();
  });
  expect(answer).toEqual({ status: 201, body: 'theirs', replayed: true });
});

test('says that the request is in flight when the other node has not recorded it yet', async () => {
  const { once } = recording();
  await expect(once(request, () => Promise.reject(conflict()))).rejects.toMatchObject({
    code: 'idempotency_in_flight',
    retryable: true,
    details: { retryAfter: 1 },
  });
});

test('does not give an answer recorded for another body', async () => {
  const { once, keep } = recording();
  keep('another digest', 'theirs');
  const untouched = () => Promise.reject(new Error('must not run'));
  await expect(once(request, untouched)).rejects.toMatchObject({ code: 'idempotency_key_mismatch' });
});
