/** What every store promises of definitions: they come back as they were put, and a version never changes. */
import { describe, expect, it } from 'vitest';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import type { Definitions, WorkflowRecord } from './definitions.ts';
import { rowBytes } from './row-bytes.ts';
import { creation, runA, runB, started } from './samples.kit.ts';

export function definitionsContract(open: Open<'definitions' | 'log' | 'runIndex'>): void {
  const store = eachStore(open);
  const definitions = () => store().definitions;
  describe('by hash', () => byHash(definitions));
  describe('the payer of a definition', () => payers(store));
  describe('workflows', () => workflows(definitions));
}

function byHash(definitions: () => Definitions): void {
  it('are kept by hash, once', async () => {
    expect(await definitions().get('h')).toBeNull();
    await definitions().put('h', '{"é":"😀"}');
    await definitions().put('h', '{"é":"😀"}');
    expect(await definitions().get('h')).toBe('{"é":"😀"}');
  });
}

function payers(store: () => Ports<'definitions' | 'log' | 'runIndex'>): void {
  const body = '{"é":"😀"}';
  const bytes = Buffer.byteLength(body);
  const bytesOf = (tenant: string) => store().runIndex.tenantLogBytes(tenant);

  it('is who stored it first, and pays once', async () => {
    const { definitions } = store();
    await definitions.put('h', body, { tenant: 't' });
    await definitions.put('h', body, { tenant: 't' });
    await definitions.put('h', body, { tenant: 'u' });
    await definitions.put('own', body);
    await definitions.put('own', body, { tenant: 'u' });
    expect([await bytesOf('t'), await bytesOf('u')]).toEqual([bytes, 0]);
    await store().log.append(creation(runA));
    expect(await bytesOf('t')).toBe(bytes + rowBytes(started()));
  });

  it('is refused without room, and nothing is stored', async () => {
    const { definitions, log } = store();
    await log.append(creation(runA));
    const used = rowBytes(started());
    const put = (hash: string, maxTenantBytes: number) => definitions.put(hash, body, { tenant: 't', maxTenantBytes });
    await expect(put('h', used + bytes - 1)).rejects.toMatchObject({
      code: 'quota_exceeded',
      details: { used, limit: used + bytes - 1 },
    });
    expect([await definitions.get('h'), await bytesOf('t')]).toEqual([null, used]);
    await put('h', used + bytes);
    await put('h', used);
    expect([await definitions.get('h'), await bytesOf('t')]).toEqual([body, used + bytes]);
    await expect(log.append(creation(runB, { maxTenantBytes: used + bytes }))).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
  });
}

function workflows(definitions: () => Definitions): void {
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
    expect(await definitions().workflow('t', 'wf')).toBeNull();
    await definitions().putWorkflow(second);
    await definitions().putWorkflow(first);
    expect(await definitions().workflow('t', 'wf')).toEqual(first);
    expect(await definitions().workflow('t', 'wf', '2')).toEqual(second);
    expect(await definitions().workflow('t', 'wf', '3')).toBeNull();
    expect(await definitions().workflow('other', 'wf')).toBeNull();
  });

  it('refuse another definition under a version that exists', async () => {
    await definitions().putWorkflow(first);
    await definitions().putWorkflow(first);
    await expect(definitions().putWorkflow(named({ hash: 'h9' }))).rejects.toMatchObject({ code: 'conflict' });
    expect(await definitions().workflow('t', 'wf', '1')).toEqual(first);
    await definitions().putWorkflow(named({ tenant: 'other', hash: 'h9' }));
  });

  it('take another definition under a version if it replaces the old one, and make it the latest', async () => {
    const edited = named({ hash: 'h9', registeredAt: 2_000 });
    for (const record of [first, second]) await definitions().putWorkflow(record);
    await definitions().putWorkflow(edited, { replaces: true });
    expect(await definitions().workflow('t', 'wf')).toEqual(edited);
    expect(await definitions().workflow('t', 'wf', '1')).toEqual(edited);
    expect(await definitions().workflow('t', 'wf', '2')).toEqual(second);
    expect(await definitions().workflows('t')).toEqual([edited]);
    await definitions().putWorkflow(second, { replaces: true });
    expect(await definitions().workflow('t', 'wf')).toEqual(second);
    await definitions().putWorkflow(named({ tenant: 'other' }), { replaces: true });
    expect(await definitions().workflow('t', 'wf', '1')).toEqual(edited);
  });

  it('list the newest version of each, by id, per tenant', async () => {
    const z = named({ workflowId: 'z' });
    for (const record of [z, first, second, named({ tenant: 'other' })]) await definitions().putWorkflow(record);
    expect(await definitions().workflows('t')).toEqual([second, z]);
    expect(await definitions().workflows('nobody')).toEqual([]);
    expect(await Promise.all(['t', 'other', 'nobody'].map((tenant) => definitions().count(tenant)))).toEqual([3, 1, 0]);
  });
}
