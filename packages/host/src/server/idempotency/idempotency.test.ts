import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ErrorCode, RetryableError, TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Redactor } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { IdempotencyRecords } from '../../log/ports/idempotency.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { IDEMPOTENCY_LEASE_MS } from './held-claim.ts';
import {
  type HttpResponse,
  Idempotency,
  idempotencyKeyOf,
  type KeyedHandler,
  type KeyedRequest,
} from './idempotency.ts';
import { DAY_BYTES } from './record-allowance.ts';

const request: KeyedRequest = {
  tenant: 't',
  endpoint: 'POST /v1/things',
  key: 'my-key',
  content: { body: { a: 1, b: 2 } },
  recordsItself: false,
};
const recording: KeyedRequest = { ...request, recordsItself: true };

const done = (body: string): HttpResponse => ({ status: 200, headers: { location: `/${body}` }, body });
const refused = (code: ErrorCode) => new TerminalError(code, { message: `refused: ${code}` });

function bench(
  idempotency: IdempotencyRecords = inMemoryStore().idempotency,
  redactor: Redactor | null = null,
  digestKeys: readonly [string, ...string[]] = ['k1'],
) {
  let ids = 0;
  const clock = { now: 1_000 };
  const reports: string[] = [];
  /** What waits for a time: nothing fires by itself, as at a node that died. */
  const timers = new Set<() => void>();
  const node = () =>
    new Idempotency({
      idempotency,
      now: () => clock.now,
      timers: {
        after: (_, wake) => {
          timers.add(wake);
          return () => void timers.delete(wake);
        },
      },
      uniqueId: () => `owner-${++ids}`,
      report: ({ event }) => void reports.push(event),
      redactor,
      digestKeys,
    });
  let works = 0;
  const work =
    (response: HttpResponse | Error): KeyedHandler =>
    async () => {
      works += 1;
      if (response instanceof Error) throw response;
      return response;
    };
  /** Time passes, and the timers that were set before it fire. */
  const pass = async (ms: number) => {
    clock.now += ms;
    for (const wake of timers) {
      timers.delete(wake);
      wake();
    }
    await new Promise(setImmediate);
  };
  return { idempotency, clock, timers, pass, reports, node, work, works: () => works };
}

test('the key of a request that was answered keeps no copy of its text, however long a run keeps the key', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { node } = bench();
  const keys: unknown[] = [];
  const keep: KeyedHandler = async (key) => {
    keys.push(key);
    return done('one');
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 50; i += 1) {
    const content = { body: { text: `${i}${'x'.repeat(1_000_000)}` } };
    await node().carryOut({ ...recording, key: `key-${i}`, content }, keep);
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(25_000_000);
  expect(keys.length).toBe(50);
});

test('the second request gets the recorded response, with its headers, and does nothing', async () => {
  const { node, work, works } = bench();
  expect(await node().carryOut(request, work(done('one')))).toEqual({ ...done('one'), isReplayed: false });
  expect(await node().carryOut(request, work(done('two')))).toEqual({ ...done('one'), isReplayed: true });
  expect(works()).toBe(1);
});

test('a request that looks for its record only when it fails gets the recorded response, whatever refuses it now', async () => {
  const { node, work } = bench();
  await node().carryOut(request, work(done('one')));
  const later = { ...recording, looksLater: true };
  const conflict = new RetryableError('conflict', { message: 'There is a record.' });
  for (const why of [conflict, refused('not_found'), refused('rate_limited'), refused('validation_error')]) {
    expect(await node().carryOut(later, work(why))).toEqual({ ...done('one'), isReplayed: true });
  }
  const other = { ...later, content: { body: 3 } };
  await expect(node().carryOut(other, work(conflict))).rejects.toMatchObject({ code: 'idempotency_key_mismatch' });
  const ended = { ...later, key: 'another' };
  await expect(node().carryOut(ended, work(refused('run_terminal')))).rejects.toMatchObject({ code: 'run_terminal' });
  expect(await node().carryOut(ended, work(refused('run_terminal')))).toMatchObject({ status: 409, isReplayed: true });
});

test('a digest has a key: records under an earlier key, or of a version without keys, still answer the same request', async () => {
  const { idempotency, node, work } = bench(undefined, null, ['k1']);
  await node().carryOut(request, work(done('one')));
  const rotated = bench(idempotency, null, ['k2', 'k1']);
  expect(await rotated.node().carryOut(request, rotated.work(done('two')))).toMatchObject({ isReplayed: true });
  const other = { ...request, content: { body: 3 } };
  await expect(rotated.node().carryOut(other, work(done('x')))).rejects.toMatchObject({
    code: 'idempotency_key_mismatch',
  });
  const keyless = { ...request, key: 'before' };
  await bench(idempotency, null, [''])
    .node()
    .carryOut(keyless, work(done('old')));
  expect(await rotated.node().carryOut(keyless, work(done('new')))).toMatchObject({ body: 'old' });
  await expect(
    bench(idempotency, null, ['k3'])
      .node()
      .carryOut(request, work(done('x'))),
  ).rejects.toThrow();
});

test('content is compared in canonical form, and other content is a mismatch in every state', async () => {
  const { node, work } = bench();
  await node().carryOut(request, work(done('one')));
  const same = { ...request, content: { body: { b: 2, a: 1 } } };
  expect((await node().carryOut(same, work(done('two')))).isReplayed).toBe(true);
  const other = { ...request, content: { body: { a: 1 } } };
  await expect(node().carryOut(other, work(done('two')))).rejects.toMatchObject({ code: 'idempotency_key_mismatch' });
});

test('a request at this node that is under way is waited for; at another node it is in flight', async () => {
  const { node, work, works } = bench();
  const gate = Promise.withResolvers<void>();
  const here = node();
  const first = here.carryOut(request, async (key) => {
    await gate.promise;
    return work(done('one'))(key);
  });
  const second = here.carryOut(request, work(done('two')));
  await expect(node().carryOut(request, work(done('three')))).rejects.toMatchObject({
    code: 'idempotency_in_flight',
    retryable: true,
    details: { retryAfter: 1 },
  });
  const other = { ...request, content: {} };
  await expect(node().carryOut(other, work(done('three')))).rejects.toMatchObject({ code: 'idempotency_key_mismatch' });
  gate.resolve();
  expect([await first, await second].map((answer) => answer.isReplayed)).toEqual([false, true]);
  expect(works()).toBe(1);
});

test('what a node died with is carried out by the next one once the lease has ended', async () => {
  const { node, work, clock, works } = bench();
  void node().carryOut(request, () => new Promise(() => undefined));
  const again = () => node().carryOut(request, work(done('again')));
  clock.now += IDEMPOTENCY_LEASE_MS - 1;
  await expect(again()).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  clock.now += 1;
  expect(await again()).toEqual({ ...done('again'), isReplayed: false });
  expect((await again()).isReplayed).toBe(true);
  expect(works()).toBe(1);
});

test('a request that takes longer than a lease keeps its claim, so that no other node carries it out too', async () => {
  const { node, work, pass, timers, works } = bench();
  const gate = Promise.withResolvers<HttpResponse>();
  const slow = node().carryOut(request, () => gate.promise);
  await new Promise(setImmediate);
  for (let third = 0; third < 9; third += 1) await pass(IDEMPOTENCY_LEASE_MS / 3);
  await expect(node().carryOut(request, work(done('again')))).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  gate.resolve(done('slow'));
  expect(await slow).toMatchObject({ body: 'slow', isReplayed: false });
  expect(await node().carryOut(request, work(done('again')))).toMatchObject({ body: 'slow', isReplayed: true });
  expect(works()).toBe(0);
  expect(timers.size).toBe(0);
});

test('who lost the lease to another does not overwrite its answer', async () => {
  const { node, work, clock } = bench();
  const gate = Promise.withResolvers<HttpResponse>();
  const slow = node().carryOut(request, () => gate.promise);
  clock.now += IDEMPOTENCY_LEASE_MS;
  await node().carryOut(request, work(done('theirs')));
  gate.resolve(done('slow'));
  await slow;
  expect((await node().carryOut(request, work(done('x')))).body).toBe('theirs');
});

test.for([
  ['conflict', true],
  ['interrupt_already_resolved', true],
  ['run_terminal', true],
  ['interrupt_expired', true],
  ['not_found', false],
  ['interrupt_not_found', false],
  ['validation_error', false],
  ['forbidden', false],
  ['unauthenticated', false],
  ['rate_limited', false],
  ['internal_error', false],
  ['service_unavailable', false],
] as const)('a refusal with %s is recorded: %s', async ([code, isRecorded]) => {
  for (const asked of [request, recording]) {
    const { node, work, works } = bench();
    await expect(node().carryOut(asked, work(refused(code)))).rejects.toMatchObject({ code });
    const second = await node().carryOut(asked, work(done('second')));
    expect([second.isReplayed, works()]).toEqual([isRecorded, isRecorded ? 1 : 2]);
    if (!isRecorded) continue;
    expect(JSON.parse(second.body)).toEqual({ error: code, message: `refused: ${code}` });
    expect(second.headers).toEqual({ link: `</docs/errors/${code}>; rel="help"` });
  }
});

test('a refusal that may pass is not recorded, and a later success is', async () => {
  const { node, work } = bench();
  const busy = new RetryableError('run_already_active', { message: 'busy' });
  await expect(node().carryOut(request, work(busy))).rejects.toMatchObject({ code: 'run_already_active' });
  await expect(node().carryOut(request, work(new Error('a defect')))).rejects.toThrow('a defect');
  await node().carryOut(request, work(done('one')));
  expect((await node().carryOut(request, work(done('two')))).body).toBe('one');
});

test('a refusal is carried out again when the key is not one that the client chose for repeats', async () => {
  const { node, work, works } = bench();
  const forgetting = { ...recording, forgetsRefusals: true };
  await expect(node().carryOut(forgetting, work(refused('conflict')))).rejects.toMatchObject({ code: 'conflict' });
  expect(await node().carryOut(forgetting, work(done('one')))).toEqual({ ...done('one'), isReplayed: false });
  expect(works()).toBe(2);
});

test('a body that was refused can be put right under the same key; one that failed for a while cannot be changed', async () => {
  const { node, work } = bench();
  await node()
    .carryOut(request, work(refused('validation_error')))
    .catch(() => undefined);
  const changed = { ...request, content: { body: { a: 2 } } };
  await node()
    .carryOut(changed, work(refused('service_unavailable')))
    .catch(() => undefined);
  await expect(node().carryOut(request, work(done('x')))).rejects.toMatchObject({ code: 'idempotency_key_mismatch' });
  expect((await node().carryOut(changed, work(done('one')))).isReplayed).toBe(false);
});

test('tenants and operations do not share keys, and no key is kept as it was sent', async () => {
  const { idempotency, node, work, works } = bench();
  const seen: string[] = [];
  const watched = { ...request, key: 'secret-key' };
  await node().carryOut(watched, async (key) => {
    seen.push(JSON.stringify(key));
    return work(done('one'))(key);
  });
  await node().carryOut({ ...watched, tenant: 'u' }, work(done('two')));
  await node().carryOut({ ...watched, endpoint: 'POST /v1/others' }, work(done('three')));
  expect(works()).toBe(3);
  expect(seen.join()).not.toContain('secret-key');
  expect(await idempotency.get({ tenant: 't', endpoint: 'POST /v1/things', key: 'secret-key' })).toBeNull();
});

test('what was done is answered for although it could not be written down', async () => {
  const { idempotency } = inMemoryStore();
  const failing = { ...idempotency, save: () => Promise.reject(new Error('disk')) };
  const { node, work, reports } = bench(failing);
  expect((await node().carryOut(request, work(done('one')))).body).toBe('one');
  expect(reports).toEqual(['idempotency.record_failed']);
});

test('nothing is carried out when the key cannot be claimed', async () => {
  const failed = new RetryableError('store_failed', { message: 'no' });
  const { node, work, works } = bench({ ...inMemoryStore().idempotency, claim: () => Promise.reject(failed) });
  await expect(node().carryOut(request, work(done('one')))).rejects.toBe(failed);
  expect(works()).toBe(0);
});

test('a tenant leaves so many bytes of records in a day: then refusals are decided again and changes wait', async () => {
  const { node, work, works, clock } = bench();
  const here = node();
  const large = { ...done('one'), body: 'x'.repeat(DAY_BYTES / 4) };
  for (let i = 0; i < 4; i += 1) await here.carryOut({ ...request, key: `k${i}` }, work(large));
  const limited = { code: 'rate_limited', retryable: true, details: { scope: 'tenant' } };
  const next = { ...request, key: 'next' };
  await expect(here.carryOut(next, work(done('one')))).rejects.toMatchObject(limited);
  expect(works()).toBe(4);
  // What is recorded is still replayed, and others have room of their own.
  expect(await here.carryOut({ ...request, key: 'k0' }, work(done('two')))).toMatchObject({ isReplayed: true });
  expect(await here.carryOut({ ...next, tenant: 'u' }, work(done('three')))).toMatchObject({ isReplayed: false });
  const asked = { ...recording, key: 'refused' };
  for (let i = 0; i < 2; i += 1) {
    await expect(here.carryOut(asked, work(refused('not_found')))).rejects.toMatchObject({ code: 'not_found' });
  }
  expect(works()).toBe(7);
  clock.now += 3_600_000;
  expect(await here.carryOut(next, work(done('one')))).toMatchObject({ body: 'one', isReplayed: false });
});

test('a handler that records its response gives the response of another node that was first', async () => {
  const { idempotency, node } = bench();
  const conflict = new RetryableError('conflict', { message: 'somebody was first' });
  await expect(node().carryOut(recording, () => Promise.reject(conflict))).rejects.toMatchObject({
    code: 'idempotency_in_flight',
  });
  const answer = await node().carryOut(recording, async (key) => {
    const theirs = { status: 201, headers: '{}', body: 'theirs', at: 0, owner: null, until: null };
    await idempotency.save({ record: { ...key, state: 'completed', ...theirs }, owner: null });
    throw conflict;
  });
  expect(answer).toEqual({ status: 201, headers: {}, body: 'theirs', isReplayed: true });
});

test('a key has 1 to 255 characters', () => {
  expect(idempotencyKeyOf(undefined)).toBeUndefined();
  expect(idempotencyKeyOf('x'.repeat(255))).toHaveLength(255);
  for (const key of ['', 'x'.repeat(256)]) {
    expect(() => idempotencyKeyOf(key)).toThrow(expect.objectContaining({ code: 'validation_error' }));
  }
});

test('what is kept of an answer that quotes the request holds no secret, and a repeat is told the same', async () => {
  const { idempotency } = inMemoryStore();
  const secret = 'sk-"quoted"-0123456789';
  const { node, work } = bench(idempotency, createRedactor([{ name: 'token', value: secret }]));
  const answer = JSON.stringify({ results: [{ runId: secret, ok: false }] });
  const first = await node().carryOut(request, work({ status: 200, headers: {}, body: answer }));
  expect(JSON.parse(first.body)).toEqual({ results: [{ runId: '[REDACTED]', ok: false }] });
  expect(await node().carryOut(request, work(done('never')))).toEqual({ ...first, isReplayed: true });
  const refusal = new TerminalError('conflict', { message: `There is a run ${secret}.` });
  for (const asked of [request, recording]) {
    const other = { ...asked, key: `other ${asked.recordsItself}` };
    await expect(node().carryOut(other, work(refusal))).rejects.toThrow();
    const kept = await node().carryOut(other, work(done('never')));
    expect(kept.body).toContain('There is a run [REDACTED].');
  }
});

test('no tenant, endpoint and key run together into those of another request', async () => {
  const { node, work } = bench();
  const here = node();
  const parts = [
    { tenant: 'a', endpoint: 'POST /v1/b', key: 'c:d' },
    { tenant: 'a', endpoint: 'POST /v1/b:c', key: 'd' },
    { tenant: 'a:POST /v1/b', endpoint: 'c', key: 'd' },
  ];
  const keysSeen = new Set<string>();
  for (const [i, part] of parts.entries()) {
    const given = await here.carryOut({ ...request, ...part }, (key) => {
      keysSeen.add(key.key);
      return work(done(String(i)))(key);
    });
    expect(given).toMatchObject({ body: String(i), isReplayed: false });
  }
  expect(keysSeen.size).toBe(3);
});

test('a record that a store gives out for another tenant is never replayed', async () => {
  const { idempotency } = inMemoryStore();
  const { node, work } = bench(idempotency);
  await node().carryOut(request, work(done('mine')));
  const leaky: IdempotencyRecords = {
    ...idempotency,
    claim: async (claim) => {
      const key = createHash('sha256')
        .update(JSON.stringify(['t', claim.endpoint, 'my-key']))
        .digest('hex');
      return idempotency.get({ ...claim, tenant: 't', key });
    },
  };
  const theirs = bench(leaky)
    .node()
    .carryOut({ ...request, tenant: 'other' }, work(done('theirs')));
  await expect(theirs).rejects.toThrow('idempotency-record-of-tenant');
});
