/** What every store's records promise: definitions, workflow names and checkpoints come back as they were put. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkflowRecord } from './definitions.ts';
import type { PackRecord } from './packs.ts';
import { creation, type OpenStore, row, runA, runB } from './samples.kit.ts';
import type { Store } from './store.ts';

/** Runs the suite against a store that `open` gives empty. */
export function recordsContract(open: OpenStore): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const current = (): Store => store;
  describe('definitions', () => definitions(current));
  describe('workflows', () => workflows(current));
  describe('checkpoints', () => checkpoints(current));
  describe('marks', () => marks(current));
  describe('packs', () => packs(current));
  describe('a closed store', () => closed(current));
}

function definitions(store: () => Store): void {
  it('are kept by hash, once', async () => {
    expect(await store().records.definition('h')).toBeNull();
    await store().records.putDefinition('h', '{"é":"😀"}');
    await store().records.putDefinition('h', '{"é":"😀"}');
    expect(await store().records.definition('h')).toBe('{"é":"😀"}');
  });
}

function workflows(store: () => Store): void {
  const named = (fields: Partial<WorkflowRecord>): WorkflowRecord => ({
    tenant: 't',
    workflowId: 'wf',
    version: '1',
    hash: 'h1',
    registeredAt: 1_000,
    ...fields,
  });
  const first = named({});
  const second = named({ version: '2', hash: 'h2' });

  it('give one version, or the one registered last', async () => {
    expect(await store().records.workflow('t', 'wf')).toBeNull();
    await store().records.putWorkflow(second);
    await store().records.putWorkflow(first);
    expect(await store().records.workflow('t', 'wf')).toEqual(first);
    expect(await store().records.workflow('t', 'wf', '2')).toEqual(second);
    expect(await store().records.workflow('t', 'wf', '3')).toBeNull();
    expect(await store().records.workflow('other', 'wf')).toBeNull();
  });

  it('refuse another definition under a version that exists', async () => {
    await store().records.putWorkflow(first);
    await store().records.putWorkflow(first);
    await expect(store().records.putWorkflow(named({ hash: 'h9' }))).rejects.toMatchObject({ code: 'conflict' });
    expect(await store().records.workflow('t', 'wf', '1')).toEqual(first);
    await store().records.putWorkflow(named({ tenant: 'other', hash: 'h9' }));
  });

  it('list the newest version of each, by id, per tenant', async () => {
    const z = named({ workflowId: 'z' });
    for (const record of [z, first, second, named({ tenant: 'other' })]) await store().records.putWorkflow(record);
    expect(await store().records.workflows('t')).toEqual([second, z]);
    expect(await store().records.workflows('nobody')).toEqual([]);
  });
}

function checkpoints(store: () => Store): void {
  it('keep only the newest of a run', async () => {
    await store().log.append(creation(runA));
    const at = (seq: number) => ({ runId: runA, seq, format: 'f1', body: `{"seq":${seq}}` });
    expect(await store().records.checkpoint(runA)).toBeNull();
    await store().records.putCheckpoint(at(5));
    await store().records.putCheckpoint(at(9));
    await store().records.putCheckpoint(at(7));
    expect(await store().records.checkpoint(runA)).toEqual(at(9));
    expect(await store().records.checkpoint(runB)).toBeNull();
  });
}

function marks(store: () => Store): void {
  it('keep what each reader said last', async () => {
    expect(await store().records.mark('r')).toBeNull();
    await store().records.putMark('r', '1');
    await store().records.putMark('other', '7');
    await store().records.putMark('r', '2');
    expect(await store().records.mark('r')).toBe('2');
    expect(await store().records.mark('other')).toBe('7');
  });
}

function packs(store: () => Store): void {
  const pack = (fields: Partial<PackRecord>): PackRecord => ({
    tenant: 't',
    name: 'vendor.acme.desk',
    version: '1.0.0',
    hash: 'h1',
    installedAt: 1_000,
    body: '{"é":"😀"}',
    ...fields,
  });
  const first = pack({});
  const second = pack({ version: '2.0.0', hash: 'h2' });

  it('give the version installed last of each, by name, per tenant', async () => {
    const other = pack({ name: 'vendor.acme.base' });
    for (const record of [first, second, other, pack({ tenant: 'other', hash: 'h9' })])
      await store().records.putPack(record);
    expect(await store().records.packs('t')).toEqual([other, second]);
    await store().records.putPack({ ...first, installedAt: 2_000 });
    expect(await store().records.packs('t')).toEqual([other, { ...first, installedAt: 2_000 }]);
    expect(await store().records.packs('nobody')).toEqual([]);
  });

  it('refuse a version that was ever there with other content', async () => {
    await store().records.putPack(first);
    const changed = pack({ hash: 'h9' });
    await expect(store().records.putPack(changed)).rejects.toMatchObject({ code: 'conflict' });
    await store().records.dropPack('t', first.name);
    await expect(store().records.putPack(changed)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store().records.packs('t')).toEqual([]);
    await store().records.putPack(first);
    expect(await store().records.packs('t')).toEqual([first]);
  });

  it('are removed in all versions, by their tenant alone', async () => {
    for (const record of [first, second]) await store().records.putPack(record);
    expect(await store().records.dropPack('other', first.name)).toBe(false);
    expect(await store().records.dropPack('t', 'vendor.acme.base')).toBe(false);
    expect(await store().records.packs('t')).toEqual([second]);
    expect(await store().records.dropPack('t', first.name)).toBe(true);
    expect(await store().records.packs('t')).toEqual([]);
    expect(await store().records.dropPack('t', first.name)).toBe(false);
  });
}

function closed(store: () => Store): void {
  it('refuses everything by name, after what it had accepted', async () => {
    const accepted = store().log.append(creation(runA));
    await store().close();
    await expect(accepted).resolves.toMatchObject({ seq: 0 });
    const refused = { code: 'store_closed' };
    await expect(store().log.append({ runId: runA, rows: [row('a')] })).rejects.toMatchObject(refused);
    await expect(store().log.head(runA)).rejects.toMatchObject(refused);
    await expect(store().log.read({ runId: runA, after: -1, limit: 1 })).rejects.toMatchObject(refused);
    await expect(store().queue.due()).rejects.toMatchObject(refused);
    await expect(store().queue.census(0)).rejects.toMatchObject(refused);
    await expect(store().log.changes({ after: '0', limit: 1 })).rejects.toMatchObject(refused);
    await expect(store().log.end()).rejects.toMatchObject(refused);
    await expect(store().records.definition('h')).rejects.toMatchObject(refused);
    await store().close();
  });
}
