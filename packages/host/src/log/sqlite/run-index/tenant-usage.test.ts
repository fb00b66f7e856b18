/** A tenant's bytes survive restarts, crashes and failed transactions. */
import { expect, it } from 'vitest';
import { rowBytes } from '../../ports/row-bytes.ts';
import { creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open } from '../folder/folders.kit.ts';

const { fresh, copyOf } = folders();

const many = (count: number) => Array.from({ length: count }, () => row('a', { payload: '{"v":"é"}', task: '{}' }));
const bytesOf = (rows: readonly { payload: string; task: string | null }[]) =>
  rows.reduce((sum, one) => sum + rowBytes(one), 0);

it.each([10, 999, 1_000, 2_500])('counts %i rows the same after a restart and after a power cut', async (count) => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA));
  const rows = many(count);
  for (let i = 0; i < rows.length; i += 100) await store.log.append({ runId: runA, rows: rows.slice(i, i + 100) });
  const expected = bytesOf([started(), ...rows]);
  expect(await store.runIndex.tenantLogBytes('t')).toBe(expected);
  const cut = copyOf(folder);
  await store.close();
  for (const one of [folder, cut]) {
    const again = await open(one);
    expect(await again.runIndex.tenantLogBytes('t')).toBe(expected);
    await again.close();
  }
});

it('counts a definition the same after a restart and after a power cut, beside rows that were not saved', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA));
  await store.definitions.put('h', '{"é":1}', { tenant: 't' });
  await store.log.append({ runId: runA, rows: many(3) });
  const expected = bytesOf([started(), ...many(3)]) + 8;
  const cut = copyOf(folder);
  await store.close();
  for (const one of [folder, cut]) {
    const again = await open(one);
    expect(await again.runIndex.tenantLogBytes('t')).toBe(expected);
    await again.close();
  }
});

it('takes over what a writer has counted', async () => {
  const store = await open(fresh());
  await store.log.append(creation(runA, { rows: [started()] }));
  const before = await store.runIndex.tenantLogBytes('t');
  await store.log.append({ runId: runA, rows: [{ ...row('a'), bytes: 1_000 }, row('b')] });
  expect(await store.runIndex.tenantLogBytes('t')).toBe(before + 1_000 + rowBytes(row('b')));
  await store.close();
});

it('does not count an import that was rolled back, nor forget what came before it', async () => {
  const store = await open(fresh());
  await store.log.append(creation(runA, { rows: [started(), ...many(5)] }));
  const before = await store.runIndex.tenantLogBytes('t');
  const run = { runId: runB, tenant: 't', contextId: creation(runB).create?.contextId ?? ('c' as never) };
  const imported = store.log.importRun({ ...run, originRunId: runB, importedAt: 1, seq: 0, hash: 'x' }, [started()]);
  const appended = store.log.append({ runId: runA, rows: many(1) });
  await expect(imported).rejects.toMatchObject({ code: 'bundle_invalid' });
  await appended;
  expect(await store.runIndex.tenantLogBytes('t')).toBe(before + bytesOf(many(1)));
  await store.close();
});
