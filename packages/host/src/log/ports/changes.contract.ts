/** What every log promises to a reader of all runs: nothing is missed, nothing comes twice, and a position keeps its meaning. */
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import { MAX_PAGE_BYTES } from './event-log.ts';
import type { Row } from './rows.ts';
import { creation, row, runA, runB, started } from './samples.kit.ts';

export function changesContract(open: Open<'log' | 'changes'>): void {
  const store = eachStore(open);
  describe('of all runs', () => all(store));
  describe('with a filter', () => filtered(store));
}

function all(store: () => Ports<'log' | 'changes'>): void {
  const place = ({ runId, seq }: Row): string => `${runId}:${seq}`;

  async function readOn(
    after: string,
    limit: number,
  ): Promise<{ readonly places: string[]; readonly position: string }> {
    const places: string[] = [];
    let position = after;
    for (;;) {
      const page = await store().changes.read({ after: position, limit, filter: null });
      places.push(...page.rows.map(place));
      if (page.position === position) return { places, position };
      position = page.position;
    }
  }

  it('gives the rows of every run once, each run in its order, whatever the page', async () => {
    await store().log.append(creation(runA));
    await store().log.append(creation(runB));
    await store().log.append({ runId: runA, rows: [row('a'), row('b')] });
    await store().log.append({ runId: runB, rows: [row('c')] });
    const all = ['run_a:0', 'run_b:0', 'run_a:1', 'run_a:2', 'run_b:1'];
    for (const limit of [1, 2, 3, 100]) expect((await readOn('0', limit)).places).toEqual(all);
  });

  it('gives whole rows', async () => {
    await store().log.append(creation(runA));
    const [first] = (await store().changes.read({ after: '0', limit: 10, filter: null })).rows;
    expect(first).toEqual((await store().log.read({ runId: runA, after: -1, limit: 10 }))[0]);
  });

  it('goes on after a position with what was added since, and only that', async () => {
    const beginning = await store().changes.end();
    await store().log.append(creation(runA));
    const { position } = await readOn(beginning, 10);
    expect(await store().changes.end()).toBe(position);
    expect((await readOn(position, 10)).places).toEqual([]);
    await store().log.append({ runId: runA, rows: [row('a')] });
    expect((await readOn(position, 10)).places).toEqual(['run_a:1']);
  });

  it('stops after the row that takes a page past its bytes, and gives at least one', async () => {
    await store().log.append(creation(runA));
    const large = row('a', { payload: JSON.stringify({ text: 'x'.repeat(5_000) }) });
    await store().log.append({ runId: runA, rows: [large, large, large] });
    const { position } = await store().changes.read({ after: '0', limit: 1, filter: null });
    const page = await store().changes.read({ after: position, limit: 100, maxBytes: 6_000, filter: null });
    expect(page.rows.map(place)).toEqual(['run_a:1', 'run_a:2']);
    const next = await store().changes.read({ after: page.position, limit: 100, maxBytes: 1, filter: null });
    expect(next.rows.map(place)).toEqual(['run_a:3']);
  });

  it('bounds a page that names no size, or a larger one than a page may have', async () => {
    const large = row('a', { payload: JSON.stringify('x'.repeat(MAX_PAGE_BYTES / 2)) });
    await store().log.append(creation(runA, { rows: [started(), large, large, large, large] }));
    for (const maxBytes of [undefined, 100 * MAX_PAGE_BYTES]) {
      const { rows, position } = await store().changes.read({ after: '0', limit: 100, maxBytes, filter: null });
      expect(rows.map(({ seq }) => seq)).toEqual([0, 1, 2]);
      const rest = await store().changes.read({ after: position, limit: 100, maxBytes, filter: null });
      expect(rest.rows.map(({ seq }) => seq)).toEqual([3, 4]);
    }
  });

  it('names the cursor of the newest row of any run', async () => {
    expect(await store().changes.lastCursor()).toBe(0);
    await store().log.append(creation(runA));
    const { cursor } = await store().log.append(creation(runB));
    expect(await store().changes.lastCursor()).toBe(cursor);
  });

  it('gives more rows than are fetched at once', async () => {
    const many = 'run_many' as RunId;
    await store().log.append(creation(many));
    await store().log.append({ runId: many, rows: Array.from({ length: 250 }, () => row('a')) });
    const { rows } = await store().changes.read({ after: '0', limit: 1_000, filter: null });
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 251 }, (_, seq) => seq));
  });
}

function filtered(store: () => Ports<'log' | 'changes'>): void {
  const foreign = { tenant: 'other', contextId: 'ctx_other' as ContextId, originRunId: runB };
  const read = async (after: string, limit: number, maxBytes?: number) => {
    const filter = { tenant: 't', types: ['a', 'b'] };
    const page = await store().changes.read({ after, limit, maxBytes, filter });
    return { found: page.rows.map(({ type, runId }) => `${runId} ${type}`), position: page.position };
  };

  it('gives those of the tenant, of the types, that clients may see', async () => {
    await store().log.append(creation(runA));
    await store().log.append(creation(runB, { create: foreign }));
    await store().log.append({ runId: runA, rows: [row('a'), row('c'), row('b', { audience: 'operator' })] });
    await store().log.append({ runId: runB, rows: [row('a')] });
    await store().log.append({ runId: runA, rows: [row('b')] });
    expect((await read('0', 100)).found).toEqual(['run_a a', 'run_a b']);
    expect((await read('0', 100)).position).toBe(await store().changes.end());
  });

  it('lets the reader move on although nothing of a page matches, and miss nothing on the way', async () => {
    await store().log.append(creation(runA));
    for (let i = 0; i < 20; i += 1) await store().log.append({ runId: runA, rows: [row(i % 7 === 0 ? 'a' : 'c')] });
    const found: string[] = [];
    let position = '0';
    for (;;) {
      const page = await read(position, 2);
      found.push(...page.found);
      if (page.position === position) break;
      position = page.position;
    }
    expect(found).toEqual(['run_a a', 'run_a a', 'run_a a']);
    await store().log.append({ runId: runA, rows: [row('b')] });
    expect((await read(position, 2)).found).toEqual(['run_a b']);
  });

  it('gives the places of rows, whatever their bodies', async () => {
    await store().log.append(creation(runA));
    const large = row('a', { payload: JSON.stringify({ text: 'x'.repeat(400_000) }) });
    await store().log.append({ runId: runA, rows: [large, row('c'), large, large, row('b')] });
    const range = { after: '0', limit: 100, filter: { tenant: 't', types: ['a', 'b'] }, isForPlaces: true };
    const { rows, position } = await store().changes.read(range);
    const places = rows.map(({ runId, seq, type }) => `${runId} ${seq} ${type}`);
    expect(places).toEqual(['run_a 1 a', 'run_a 3 a', 'run_a 4 a', 'run_a 5 b']);
    expect(position).toBe(await store().changes.end());
  });

  it('ends a page with the row that takes it past its bytes', async () => {
    await store().log.append(creation(runA));
    const large = row('a', { payload: JSON.stringify({ text: 'x'.repeat(5_000) }) });
    await store().log.append({ runId: runA, rows: [large, large, large] });
    const page = await read('0', 100, 6_000);
    expect(page.found).toHaveLength(2);
    expect((await read(page.position, 100, 1)).found).toHaveLength(1);
  });
}
