/** What every event log promises of an append: dense places, guards that hold, bodies that come back, a hash chain. */

import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import type { EventLog } from './event-log.ts';
import { MAX_EVENT_BYTES, type Row } from './rows.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

export function appendContract(open: Open<'log'>): void {
  const store = eachStore(open);
  const log = () => store().log;
  describe('positions', () => positions(log));
  describe('guards', () => guards(log));
  describe('bodies', () => bodies(store));
  describe('the chain', () => chain(store));
}

function positions(log: () => EventLog): void {
  it('gives the rows of a run dense places from 0', async () => {
    const first = await log().append(creation(runA, { rows: [started(), row('a')] }));
    const second = await log().append({ runId: runA, rows: [row('b'), row('c')] });
    expect([first.seq, second.seq]).toEqual([0, 2]);
    const rows = await log().read({ runId: runA, after: -1, limit: 10 });
    expect(rows.map((r) => [r.seq, r.type])).toEqual([
      [0, 'run.started'],
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('appends many at once without a gap or a twin', async () => {
    await log().append(creation(runA));
    const many = Array.from({ length: 50 }, (_, i) => log().append({ runId: runA, rows: [row(`x${i}`), row('y')] }));
    const seqs = (await Promise.all(many)).map((done) => done.seq);
    expect(seqs).toEqual(Array.from({ length: 50 }, (_, i) => 1 + i * 2));
    const rows = await log().read({ runId: runA, after: -1, limit: 1_000 });
    expect(rows.map((r) => r.seq)).toEqual(Array.from({ length: 101 }, (_, i) => i));
  });

  it('accepts a decision at the next place and refuses it anywhere else', async () => {
    await log().append(creation(runA, { at: 0 }));
    await log().append({ runId: runA, at: 1, rows: [row('a')] });
    await expect(log().append({ runId: runA, at: 1, rows: [row('b')] })).rejects.toMatchObject({ code: 'conflict' });
    await expect(log().append({ runId: runA, at: 5, rows: [row('b')] })).rejects.toMatchObject({ code: 'conflict' });
    expect((await log().head(runA))?.seq).toBe(1);
  });

  it('lets exactly one of two decisions at the same place win', async () => {
    await log().append(creation(runA));
    const results = await Promise.allSettled(
      ['a', 'b'].map((type) => log().append({ runId: runA, at: 1, rows: [row(type)] })),
    );
    expect(results.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await log().read({ runId: runA, after: 0, limit: 9 })).length).toBe(1);
  });

  it('puts a fact at the end, wherever that is', async () => {
    await log().append(creation(runA));
    await Promise.all([
      log().append({ runId: runA, at: 1, rows: [row('decision')] }),
      log().append({ runId: runA, rows: [row('fact')] }),
    ]);
    const rows = await log().read({ runId: runA, after: 0, limit: 9 });
    expect(rows.map((r) => r.type)).toEqual(['decision', 'fact']);
  });
}

function guards(log: () => EventLog): void {
  it('refuses to create a run twice', async () => {
    const twice = await Promise.allSettled([log().append(creation(runA)), log().append(creation(runA))]);
    expect(twice.map((r) => r.status)).toEqual(['fulfilled', 'rejected']);
    await expect(log().append(creation(runA))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('knows no run that was not created', async () => {
    await expect(log().append({ runId: runB, rows: [row('a')] })).rejects.toMatchObject({ code: 'not_found' });
    expect(await log().head(runB)).toBeNull();
  });

  it('accepts nothing after the terminal row', async () => {
    await log().append(creation(runA));
    const [end, late] = await Promise.allSettled([
      log().append({ runId: runA, rows: [row('run.completed')] }),
      log().append({ runId: runA, rows: [row('a')] }),
    ]);
    expect(end.status).toBe('fulfilled');
    expect(late).toMatchObject({ status: 'rejected', reason: { code: 'run_terminal' } });
  });

  it('accepts a terminal row only as the last of its append', async () => {
    await log().append(creation(runA));
    const rows = [row('run.failed'), row('a')];
    await expect(log().append({ runId: runA, rows })).rejects.toMatchObject({ code: 'internal_error' });
    expect((await log().head(runA))?.seq).toBe(0);
  });

  it('refuses an append without rows and one whose time runs backwards', async () => {
    await log().append(creation(runA));
    await expect(log().append({ runId: runA, rows: [] })).rejects.toMatchObject({ code: 'internal_error' });
    const early = [row('a', { at: 999 })];
    await expect(log().append({ runId: runA, rows: early, at: 1 })).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('moves a fact from a node whose clock is behind up to the last event', async () => {
    await log().append(creation(runA));
    await log().append({ runId: runA, rows: [row('a', { at: 999 })] });
    expect((await log().read({ runId: runA, after: -1, limit: 9 })).map((stored) => stored.at)).toEqual([1_000, 1_000]);
  });

  it('lets an open interrupt be answered once', async () => {
    await log().append(creation(runA, { rows: [started(), asked('i1')] }));
    const answer = () => log().append({ runId: runA, answers: 'i1', rows: [resolved('i1')] });
    const [first, second] = await Promise.allSettled([answer(), answer()]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'interrupt_already_resolved' } });
  });

  it('tells an interrupt that never was from one that no longer waits', async () => {
    await log().append(creation(runA, { rows: [started(), asked('i1'), resolved('i1')] }));
    const answer = (id: string) => log().append({ runId: runA, answers: id, rows: [resolved(id)] });
    await expect(answer('i1')).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
    await expect(answer('i2')).rejects.toMatchObject({ code: 'interrupt_not_found' });
  });

  it('refuses one append of many without harming its neighbours', async () => {
    await log().append(creation(runA));
    const results = await Promise.allSettled([
      log().append({ runId: runA, at: 1, rows: [row('a')] }),
      log().append({ runId: runA, at: 1, rows: [row('b')] }),
      log().append({ runId: runA, at: 2, rows: [row('c')] }),
      log().append({ runId: runB, rows: [row('d')] }),
      log().append(creation(runB, { rows: [row('run.started', { at: Number.NaN })] })),
      log().append(creation(runB)),
    ]);
    const ways = ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'];
    expect(results.map((r) => r.status)).toEqual(ways);
    expect((await log().head(runA))?.seq).toBe(2);
  });
}

function bodies(store: () => Ports<'log'>): void {
  const awkward: readonly (readonly [string, string, string | null])[] = [
    ['an empty object', '{}', '{}'],
    ['every kind of character', JSON.stringify({ '\u0000é€😀': ['\u2028', '\u007f', '"\\/'] }), null],
    ['an escaped lone surrogate', JSON.stringify({ half: '\ud83d' }), JSON.stringify('\udc00')],
    ['spaces and odd numbers as they were written', '{ "a" : 1.0e+2,\t"b":[ ] }', null],
  ];
  it.each(awkward)('gives back %s byte for byte', async (_, payload, task) => {
    await store().log.append(creation(runA, { rows: [started(), row('a', { payload, task, nodeId: 'n\u0000é"😀' })] }));
    const [, stored] = await rowsOf(store(), runA);
    expect(stored).toMatchObject({ payload, task, nodeId: 'n\u0000é"😀' });
  });

  it('keeps every column', async () => {
    const cause = 'run_other:7' as never;
    const full = row('a', { at: 2_000, nodeId: 'n', cause: 0, audience: 'operator', task: '{"kind":"x"}' });
    await store().log.append(creation(runA, { rows: [started(), full, row('b', { at: 2_000, cause })] }));
    const [, one, two] = await rowsOf(store(), runA);
    const place = { runId: runA, contextId: context };
    expect(one).toMatchObject({ ...full, ...place, seq: 1 });
    expect(two).toMatchObject({ ...place, seq: 2, nodeId: null, cause, audience: 'client', task: null });
  });

  it('refuses text that has no UTF-8 form', async () => {
    await store().log.append(creation(runA));
    const bad = { runId: runA, rows: [row('a', { payload: '"\ud83d"' })] };
    await expect(store().log.append(bad)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('takes a row of 1 MiB and refuses one byte more', async () => {
    const body = (bytes: number): string => JSON.stringify('é'.repeat((bytes - 2) / 2));
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [row('a', { payload: body(MAX_EVENT_BYTES - 2), task: '{}' })] });
    const more = row('a', { payload: body(MAX_EVENT_BYTES - 2), task: '{ }' });
    await expect(store().log.append({ runId: runA, rows: [more] })).rejects.toMatchObject({ code: 'event_too_large' });
    expect((await rowsOf(store(), runA)).length).toBe(2);
  });
}

function chain(store: () => Ports<'log'>): void {
  const history = async (): Promise<readonly Row[]> => {
    await store().log.append(creation(runA, { rows: [started(), row('a', { nodeId: 'n', cause: 0 })] }));
    await store().log.append({ runId: runA, rows: [row('b', { task: '{"kind":"x"}', audience: 'operator' })] });
    return rowsOf(store(), runA);
  };

  it('holds over several appends and several runs', async () => {
    const rows = await history();
    await store().log.append(creation(runB));
    expect(verifyChain(rows, runA)).toBeNull();
    expect(verifyChain(await rowsOf(store(), runB), runB)).toBeNull();
  });

  it('is seeded by the origin, so that a fork shares the hashes of its prefix', async () => {
    const rows = await history();
    const create = { tenant: 't', contextId: context, originRunId: runA };
    await store().log.append(creation(runB, { create, rows: [started()] }));
    expect(present((await rowsOf(store(), runB))[0]).hash).toBe(present(rows[0]).hash);
  });
}
