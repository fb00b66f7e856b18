import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import type { NewRow } from '../../packages/host/src/log/ports/rows.ts';
import { creation, row, runA } from '../../packages/host/src/log/ports/samples.kit.ts';
import { Auditor } from './auditor.ts';
import { Complaints } from './breach.ts';

/** What the auditor complains of first when this row is committed after the first one of a run. */
async function complaint(next: NewRow): Promise<string | null> {
  const base = inMemoryStore();
  await base.log.append(creation(runA));
  const complaints = new Complaints();
  const quiet = { count: () => undefined, note: () => undefined, onRow: () => undefined };
  new Auditor({ base, complain: complaints.complain, ...quiet });
  await base.log.append({ runId: runA, rows: [next] });
  return complaints.first?.invariant ?? null;
}

const said = 'a row is what its type says';

test('a row whose payload its type does not allow is a breach', async () => {
  expect(await complaint(row('node.started', { nodeId: 'a', payload: '{"nodeId":7}' }))).toBe(said);
});

test('a row that is shown to others than its type says is a breach', async () => {
  const payload = JSON.stringify({ nodeId: 'a', typeId: 'core.noop' });
  expect(await complaint(row('node.started', { nodeId: 'a', audience: 'operator', payload }))).toBe(said);
  expect(await complaint(row('node.started', { nodeId: 'a', payload }))).not.toBe(said);
});
