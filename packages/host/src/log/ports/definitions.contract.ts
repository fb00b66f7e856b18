/** What every store promises of definitions: they come back as they were put, and a version never changes. */
import { describe, expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { Definitions, WorkflowRecord } from './definitions.ts';

export function definitionsContract(open: Open<'definitions'>): void {
  const store = eachStore(open);
  const definitions = () => store().definitions;
  describe('by hash', () => byHash(definitions));
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
