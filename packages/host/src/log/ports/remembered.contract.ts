/** What every store promises of what agents remember: versions by the place of their rows, one tenant's only, found by words. */
import type { RunId } from '@cairn/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { DROPPED, KEPT } from '../remembered-changes.ts';
import type { Append } from './event-log.ts';
import type { RememberedQuery } from './memories.ts';
import type { NewRow } from './rows.ts';
import { context, creation, type OpenStore, row, runA, runB, started } from './samples.kit.ts';
import type { Store } from './store.ts';

const NOW = 5_000;

interface Sample {
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly expiresAt?: number;
  readonly memoryRef?: string;
  readonly turn?: string;
}

const kept = (memoryId: string, { expiresAt, ...fields }: Sample = {}): NewRow =>
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

const dropped = (memoryId: string, turn = 't1'): NewRow =>
  row(DROPPED, { audience: 'operator', payload: JSON.stringify({ memoryRef: 'notes', memoryId, turn }) });

const ofTenant = (runId: RunId, tenant: string, rows: readonly NewRow[]): Append =>
  creation(runId, { create: { tenant, contextId: `ctx_${runId}` as never, originRunId: runId }, rows });

const childOf = (parentRunId: RunId, runId: RunId): Append =>
  creation(runId, { create: { tenant: 't', contextId: context, originRunId: runId, parentRunId } });

const notes = (fields: Partial<RememberedQuery> = {}): RememberedQuery => ({
  tenant: 't',
  memoryRef: 'notes',
  now: NOW,
  limit: 100,
  ...fields,
});

/** Runs the suite against a store that `open` gives empty. */
export function rememberedContract(open: OpenStore): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const current = (): Store => store;
  describe('entries', () => entries(current));
  describe('what a run sees', () => sights(current));
  describe('tenants', () => tenants(current));
  describe('words', () => words(current));
}

const ids = async (store: Store, query: Partial<RememberedQuery> = {}) =>
  (await store.records.remembered(notes(query))).map(({ id }) => id);

const found = async (store: Store, text: string, query: Partial<RememberedQuery> = {}) =>
  (await store.records.searchRemembered(notes(query), text)).map(({ id }) => id);

function entries(store: () => Store): void {
  it('are there once their rows are, newest first, as they were kept', async () => {
    expect(await ids(store())).toEqual([]);
    const text = 'é 😀 "quoted" \u0000 {json}\n';
    await store().log.append(
      creation(runA, {
        rows: [started(), kept('a', { content: text, tags: ['x', 'y'], expiresAt: 9_000 }), kept('b')],
      }),
    );
    expect(await store().records.remembered(notes())).toEqual([
      { id: 'b', content: 'content of b', tags: [], createdAt: 1_000, expiresAt: null },
      { id: 'a', content: text, tags: ['x', 'y'], createdAt: 1_000, expiresAt: 9_000 },
    ]);
    expect(await ids(store(), { limit: 1 })).toEqual(['b']);
    expect(await store().records.rememberedEntry(notes(), 'a')).toMatchObject({ id: 'a', content: text });
    expect(await store().records.rememberedEntry(notes(), 'nobody')).toBeNull();
  });

  it('are not there when their append was refused', async () => {
    await store().log.append(creation(runA));
    await expect(store().log.append({ runId: runA, at: 7, rows: [kept('a')] })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await ids(store())).toEqual([]);
    expect(await found(store(), 'content')).toEqual([]);
  });

  it('stay as they were kept first, however often their row is repeated', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a', { content: 'first words' })] }));
    await store().log.append({ runId: runA, rows: [kept('a', { content: 'second words' })] });
    await store().log.append({ runId: runA, rows: [dropped('a')] });
    await store().log.append({ runId: runA, rows: [kept('a', { content: 'third words' })] });
    expect(await ids(store())).toEqual([]);
    const before = { ...notes(), sight: { runId: runA, beforeSeq: 3, turn: 'other' } };
    expect(await store().records.remembered(before)).toMatchObject([{ id: 'a', content: 'first words' }]);
  });

  it('are chosen by one of their tags', async () => {
    const rows = [kept('a', { tags: ['red'] }), kept('b', { tags: ['red', 'blue', 'red'] }), kept('c')];
    await store().log.append(creation(runA, { rows: [started(), ...rows] }));
    expect(await ids(store(), { tag: 'red' })).toEqual(['b', 'a']);
    expect(await ids(store(), { tag: 'red', limit: 1 })).toEqual(['b']);
    expect(await ids(store(), { tag: 're' })).toEqual([]);
    expect(await found(store(), 'content', { tag: 'blue' })).toEqual(['b']);
    expect(await found(store(), 'content', { tag: 're' })).toEqual([]);
  });

  it('never surface once they have expired', async () => {
    const rows = [kept('a', { expiresAt: NOW }), kept('b', { expiresAt: NOW + 1 })];
    await store().log.append(creation(runA, { rows: [started(), ...rows] }));
    expect(await ids(store())).toEqual(['b']);
    expect(await found(store(), 'content')).toEqual(['b']);
    expect(await store().records.rememberedEntry(notes(), 'a')).toBeNull();
    expect(await ids(store(), { now: NOW - 1 })).toEqual(['b', 'a']);
  });

  it('are the same after a rebuild', async () => {
    await store().log.append(
      creation(runA, { rows: [started(), kept('a', { tags: ['x'] }), kept('b'), dropped('b')] }),
    );
    expect(await store().log.rebuild()).toEqual({ runs: 1, repaired: 0 });
    expect(await ids(store(), { tag: 'x' })).toEqual(['a']);
    expect(await found(store(), 'content')).toEqual(['a']);
  });
}

function sights(store: () => Store): void {
  const sight = (runId: RunId, beforeSeq: number, turn = 'now') => ({ sight: { runId, beforeSeq, turn } });

  it('is what was there when it began, whatever others keep or drop meanwhile', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a'), kept('b'), dropped('b')] }));
    await store().log.append(creation(runB));
    await store().log.append({ runId: runA, rows: [kept('c'), dropped('a')] });
    expect(await ids(store())).toEqual(['c']);
    expect(await ids(store(), sight(runB, 9))).toEqual(['a']);
    expect(await found(store(), 'content', sight(runB, 9))).toEqual(['a']);
    expect(await store().records.rememberedEntry({ ...notes(), ...sight(runB, 9) }, 'c')).toBeNull();
  });

  it('is also what it kept and dropped itself before this row, but in the same turn', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('old')] }));
    await store().log.append(creation(runB));
    await store().log.append({ runId: runB, rows: [kept('one', { turn: 't1' }), dropped('old', 't1')] });
    await store().log.append({ runId: runB, rows: [kept('two', { turn: 't2' })] });
    expect(await ids(store(), sight(runB, 1, 't1'))).toEqual(['old']);
    expect(await ids(store(), sight(runB, 3, 't1'))).toEqual(['old']);
    expect(await ids(store(), sight(runB, 3, 't2'))).toEqual(['one']);
    expect(await ids(store(), sight(runB, 4, 't2'))).toEqual(['one']);
    expect(await ids(store(), sight(runB, 4, 't3'))).toEqual(['two', 'one']);
  });

  it('is also what runs below it kept and dropped, once they have ended, and from its next row on', async () => {
    const [top, below, deeper] = [runA, 'run_a.0' as RunId, 'run_a.0.0' as RunId];
    await store().log.append(creation(top, { rows: [started(), kept('mine')] }));
    await store().log.append(childOf(top, below));
    await store().log.append(childOf(below, deeper));
    await store().log.append({ runId: deeper, rows: [kept('deep')] });
    await store().log.append({ runId: below, rows: [kept('under'), dropped('mine')] });
    await store().log.append({ runId: top, rows: [row('node.started')] });
    expect(await ids(store(), sight(top, 9))).toEqual(['mine']);
    await store().log.append({ runId: deeper, rows: [row('run.failed')] });
    await store().log.append({ runId: top, rows: [row('node.started')] });
    expect(await ids(store(), sight(top, 2))).toEqual(['mine']);
    expect(await ids(store(), sight(top, 3))).toEqual(['deep', 'mine']);
    await store().log.append({ runId: below, rows: [row('run.completed')] });
    expect(await ids(store(), sight(top, 3))).toEqual(['deep', 'mine']);
    expect(await ids(store(), sight(top, 4))).toEqual(['under', 'deep']);
    expect(await found(store(), 'content', sight(top, 4))).toHaveLength(2);
    expect(await store().records.rememberedEntry({ ...notes(), ...sight(top, 4) }, 'mine')).toBeNull();
  });

  it('is nothing of runs above it or beside it after it began, whether they have ended or not', async () => {
    const [first, second] = ['run_a.0' as RunId, 'run_a.1' as RunId];
    await store().log.append(creation(runA, { rows: [started(), kept('before')] }));
    await store().log.append(childOf(runA, first));
    await store().log.append(childOf(runA, second));
    await store().log.append({ runId: runA, rows: [kept('above')] });
    await store().log.append({ runId: first, rows: [kept('beside'), row('run.completed')] });
    await store().log.append(creation(runB, { rows: [started(), kept('elsewhere'), row('run.completed')] }));
    expect(await ids(store(), sight(second, 9))).toEqual(['before']);
    await store().log.append(childOf(runA, 'run_a.2' as RunId));
    expect(await ids(store(), sight('run_a.2' as RunId, 9))).toEqual(['elsewhere', 'beside', 'above', 'before']);
  });

  it('is, without a turn, all that lay before the row, whatever came later', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a'), kept('b'), dropped('a')] }));
    const asOf = (beforeSeq: number) => ({ sight: { runId: runA, beforeSeq } });
    expect(await ids(store(), asOf(1))).toEqual([]);
    expect(await ids(store(), asOf(2))).toEqual(['a']);
    expect(await ids(store(), asOf(3))).toEqual(['b', 'a']);
    expect(await ids(store(), asOf(4))).toEqual(['b']);
  });

  it('is nothing for a run that the tenant does not have', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a')] }));
    await store().log.append(ofTenant(runB, 'other', [started()]));
    expect(await ids(store(), sight('run_nobody' as RunId, 9))).toEqual([]);
    expect(await ids(store(), sight(runB, 9))).toEqual([]);
  });
}

function tenants(store: () => Store): void {
  it('see only their own, also under the same reference and id', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a', { content: 'mine' })] }));
    await store().log.append(ofTenant(runB, 'other', [started(), kept('a', { content: 'theirs' }), dropped('a')]));
    expect(await store().records.remembered(notes())).toMatchObject([{ content: 'mine' }]);
    expect(await ids(store(), { tenant: 'other' })).toEqual([]);
    expect(await ids(store(), { tenant: 'nobody' })).toEqual([]);
    expect(await ids(store(), { memoryRef: 'notes/../notes' })).toEqual([]);
    expect(await found(store(), 'theirs')).toEqual([]);
  });

  it('get nothing out of a run that was imported, nor out of a rebuild after it', async () => {
    const source = inMemoryStore();
    await source.log.append(creation(runA, { rows: [started(), kept('a')] }));
    const { hash, seq } = (await source.log.head(runA))!;
    const run = { runId: runA, tenant: 't', contextId: context, originRunId: runA, importedAt: 9, seq, hash };
    await store().log.importRun(run, [started(), kept('a')]);
    expect(await ids(store())).toEqual([]);
    await store().log.rebuild();
    expect(await ids(store())).toEqual([]);
    expect(await ids(source)).toEqual(['a']);
  });
}

function words(store: () => Store): void {
  const keepAll = (contents: Readonly<Record<string, string>>) =>
    store().log.append(
      creation(runA, {
        rows: [started(), ...Object.entries(contents).map(([id, content]) => kept(id, { content }))],
      }),
    );

  it('find what holds them, the best match first', async () => {
    await keepAll({
      both: 'Ada prefers deliveries on Friday',
      one: 'Friday is a holiday',
      none: 'The office is in Oslo',
      other: 'Deliveries take two days',
    });
    expect((await found(store(), 'friday delivery'))[0]).toBe('both');
    expect((await found(store(), 'friday delivery')).sort()).toEqual(['both', 'one', 'other']);
    expect(await found(store(), 'friday delivery', { limit: 1 })).toEqual(['both']);
    expect(await found(store(), 'oslo')).toEqual(['none']);
    expect(await found(store(), 'berlin')).toEqual([]);
  });

  it('are the same in any case, with or without accents, in the plural, and in scripts without spaces', async () => {
    await keepAll({ fr: 'Le CAFÉ de la gare', en: 'Both companies pay their invoices', ja: '明日は東京で会議' });
    expect(await found(store(), 'cafe')).toEqual(['fr']);
    expect(await found(store(), 'Company INVOICE')).toEqual(['en']);
    expect(await found(store(), '東京')).toEqual(['ja']);
    expect(await found(store(), '京東')).toEqual([]);
  });

  it.each([
    '"',
    'a" OR "b',
    'content:secret',
    'words : secret',
    '*',
    'sec*',
    'NOT secret',
    '^secret',
    'NEAR(secret word, 2)',
    '(',
    '1xsecret',
    "'; DROP TABLE memory_entries; --",
    '\u0000',
    '\ud800',
    '',
    '   ',
  ])('never become a language of the index: %j', async (text) => {
    await keepAll({ a: 'the secret word', b: 'near not or and' });
    const hits = await found(store(), text);
    const isAsked = /\bsecret\b/.test(text);
    expect(hits.includes('a')).toBe(isAsked);
    expect(await ids(store())).toEqual(['b', 'a']);
  });

  it('are weighed by this memory alone: what is common elsewhere may be rare here', async () => {
    const elsewhere = Array.from({ length: 60 }, (_, i) => kept(`e${i}`, { memoryRef: 'else', content: 'alpha' }));
    await store().log.append(creation(runA, { rows: [started(), ...elsewhere] }));
    const here = ['alpha one', 'beta two', 'beta three', 'beta four', 'gamma five'];
    const rows = here.map((content, i) => kept(`h${i}`, { content }));
    await store().log.append(ofTenant(runB, 'other', [started(), ...rows]));
    expect((await found(store(), 'alpha beta', { tenant: 'other' }))[0]).toBe('h0');
  });

  it('of another memory are not found, however they are written', async () => {
    await store().log.append(
      creation(runA, {
        rows: [
          started(),
          kept('a', { content: 'plain 2xplain 1xplain' }),
          kept('b', { memoryRef: 'else', content: 'x' }),
        ],
      }),
    );
    expect(await found(store(), 'plain', { memoryRef: 'else' })).toEqual([]);
    expect(await found(store(), 'plain')).toEqual(['a']);
  });
}
