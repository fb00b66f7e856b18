/** What every store promises of blobs: bytes by their hash, once for each tenant, for as long as a row names them. */
import { createHash } from 'node:crypto';
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { MAX_BLOB_BYTES, UNNAMED_BLOB_MS } from './blobs.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { rowBytes } from './row-bytes.ts';
import type { NewRow } from './rows.ts';
import { creation, row, runA, runB, started } from './samples.kit.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A row that names a blob. */
const naming = (bytes: Uint8Array, index = 0): NewRow =>
  row('cairn.artifact.chunk', {
    payload: JSON.stringify({
      artifactId: 'report.md',
      version: 1,
      index,
      complete: false,
      blob: { sha256: nameOf(bytes), bytes: bytes.length },
    }),
  });

const ended = row('run.completed');

export function blobsContract(open: Open<'log' | 'purges' | 'blobs' | 'runIndex'>): void {
  const store = eachStore(open);
  const put = (bytes: Uint8Array, fields: { tenant?: string; at?: number; maxTenantBytes?: number } = {}) =>
    store().blobs.put({ tenant: 't', at: 1_000, ...fields, bytes });
  const get = (bytes: Uint8Array, tenant = 't') => store().blobs.get(tenant, nameOf(bytes));
  const sweep = async (before: number): Promise<void> => {
    for (let left = 1; left > 0; ) left = await store().blobs.sweepSome(before);
  };
  const purge = async (runId: RunId, at: number): Promise<void> => {
    await store().purges.retire(runId, at);
    for (let isDone = false; !isDone; ) isDone = (await store().purges.purgeSome(runId)).isDone;
    await store().purges.finish(runId);
  };

  describe('bytes', () => {
    it('come back by their sha256, up to the largest size', async () => {
      const large = new Uint8Array(MAX_BLOB_BYTES).map((_, i) => i % 251);
      expect(await put(bytesOf('a'))).toEqual({ sha256: nameOf(bytesOf('a')), bytes: 1 });
      await put(large);
      expect(Buffer.from((await get(large)) ?? []).equals(large)).toBe(true);
      expect(await get(bytesOf('a'))).toEqual(bytesOf('a'));
      await expect(put(new Uint8Array(MAX_BLOB_BYTES + 1))).rejects.toThrow();
      await expect(put(new Uint8Array(0))).rejects.toThrow();
    });

    it('stay as they were put, whatever the writer or a reader does with its own', async () => {
      const own = Buffer.from('mine');
      await put(own);
      own.fill(0);
      const read = await get(bytesOf('mine'));
      expect(read).toEqual(bytesOf('mine'));
      read?.fill(0);
      read?.buffer.transfer(0);
      expect(await get(bytesOf('mine'))).toEqual(bytesOf('mine'));
    });

    it('are kept once for each tenant, and another tenant cannot tell', async () => {
      for (const at of [1, 2, 3]) await put(bytesOf('same'), { at });
      expect(await store().blobs.tenantBytes('t')).toBe(4);
      expect(await get(bytesOf('same'), 'u')).toBeNull();
      await put(bytesOf('same'), { tenant: 'u' });
      expect(await store().blobs.tenantBytes('u')).toBe(4);
      expect(await store().blobs.tenantBytes('t')).toBe(4);
    });

    it('count against the quota together with events, and the same bytes again cost nothing', async () => {
      await store().log.append(creation(runA));
      const events = await store().runIndex.tenantLogBytes('t');
      expect(events).toBe(rowBytes(started()));
      const maxTenantBytes = events + 10;
      await put(bytesOf('12345678'), { maxTenantBytes });
      await expect(put(bytesOf('abc'), { maxTenantBytes })).rejects.toMatchObject({ code: 'quota_exceeded' });
      await put(bytesOf('12345678'), { maxTenantBytes });
      const late = { runId: runA, rows: [row('log.appended')], maxTenantBytes: events + rowBytes(row('x')) };
      await expect(store().log.append(late)).rejects.toMatchObject({ code: 'quota_exceeded' });
      await put(bytesOf('abc'), { tenant: 'u', maxTenantBytes });
    });
  });

  describe('references', () => {
    it('keep a blob from the sweep; without one it goes, but not while it is new', async () => {
      const [kept, orphan, young] = ['kept', 'orphan', 'young'].map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
      await put(kept);
      await put(orphan);
      await put(young, { at: 9_000 });
      await store().log.append(creation(runA, { rows: [started(), naming(kept)] }));
      await sweep(9_000);
      expect([await get(kept), await get(orphan), await get(young)]).toEqual([kept, null, young]);
      expect(await store().blobs.tenantBytes('t')).toBe(9);
    });

    it('cannot name a blob that is not there, or is another tenant’s', async () => {
      await put(bytesOf('theirs'), { tenant: 'u' });
      await expect(
        store().log.append(creation(runA, { rows: [started(), naming(bytesOf('theirs'))] })),
      ).rejects.toThrow();
      expect(await store().log.head(runA)).toBeNull();
    });

    it('go with their run, and the last one takes the blob along', async () => {
      const [shared, own] = [bytesOf('shared'), bytesOf('own')];
      await put(shared);
      await put(own);
      const rows = [started(), naming(shared), naming(own, 1), naming(own, 2), ended];
      await store().log.append(creation(runA, { rows }));
      const create = { tenant: 't', contextId: 'ctx_two' as ContextId, originRunId: runB };
      await store().log.append(creation(runB, { rows: [started(), naming(shared), ended], create }));
      const at = 2_000 + UNNAMED_BLOB_MS;
      await purge(runA, at);
      expect([await get(shared), await get(own)]).toEqual([shared, null]);
      await purge(runB, at);
      expect([await get(shared), await store().blobs.tenantBytes('t')]).toEqual([null, 0]);
    });

    it('leave a blob that was just put again to its writer, and then to the sweep', async () => {
      const bytes = bytesOf('again');
      await put(bytes);
      await store().log.append(creation(runA, { rows: [started(), naming(bytes), ended] }));
      await put(bytes, { at: 5_000 });
      await purge(runA, 5_001);
      expect(await get(bytes)).toEqual(bytes);
      await sweep(5_001);
      expect(await get(bytes)).toBeNull();
    });

    it('of imported rows count too, and rows without their blobs are refused', async () => {
      const bytes = bytesOf('imported');
      const rows = [started(), naming(bytes)];
      await put(bytes);
      await store().log.append(creation(runB, { rows }));
      const hash = (await store().log.head(runB))?.hash ?? '';
      const contextId = 'ctx_two' as ContextId;
      const run = { runId: runA, contextId, originRunId: runB, importedAt: 9, seq: 1, hash };
      await expect(store().log.importRun({ ...run, tenant: 'u' }, rows)).rejects.toMatchObject({
        code: 'bundle_invalid',
      });
      await put(bytes, { tenant: 'u' });
      await store().log.importRun({ ...run, tenant: 'u' }, rows);
      await sweep(2_000);
      expect(await get(bytes, 'u')).toEqual(bytes);
    });
  });
}
