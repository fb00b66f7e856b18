/** A fork of a run with large events reads few of them, and few in one turn of the event loop. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { asked, creation, resolved, row, runA, started } from '../../ports/samples.kit.ts';
import { folders } from '../folder/folders.kit.ts';
import { openSqliteStore } from '../folder/open.ts';

const { fresh } = folders();
const large = (name: string): string => name.padEnd(100_000, '~');
const forkAt = (fromSeq: number) => ({
  ...{ runId: 'run_f' as RunId, tenant: 't', contextId: 'ctx_f' as ContextId, originRunId: runA, at: 2_000 },
  fork: { sourceRunId: runA, fromSeq, mode: 'branch' as const },
});

it('reads no payload of a type that changes the index without it', async () => {
  const folder = fresh();
  const store = await openSqliteStore({ folder });
  const outputs = Array.from({ length: 5 }, (_, i) =>
    row('node.completed', { nodeId: `n${i}`, payload: JSON.stringify({ outputs: { text: large(`o${i}`) } }) }),
  );
  await store.log.append(creation(runA, { rows: [started(), ...outputs, asked('i1')] }));
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec('DELETE FROM large_values');
  db.close();
  await store.log.fork(forkAt(7));
  expect(await store.runIndex.interrupts('run_f' as RunId)).toMatchObject([{ interruptId: 'i1' }]);
  await store.close();
});

it('takes turns with others when it reads large payloads', async () => {
  let turns = 0;
  const nextTurn = (go: () => void) => {
    turns += 1;
    setImmediate(go);
  };
  const store = await openSqliteStore({ folder: fresh(), nextTurn });
  const question = (i: number) => ({
    ...asked(`i${i}`),
    payload: JSON.stringify({ interruptId: `i${i}`, kind: 'approval', nodeId: 'gate', data: large(`d${i}`) }),
  });
  const answered = Array.from({ length: 30 }, (_, i) => [question(i), resolved(`i${i}`)]).flat();
  await store.log.append(creation(runA, { rows: [started(), ...answered] }));
  turns = 0;
  await store.log.fork(forkAt(61));
  expect(turns).toBeGreaterThanOrEqual(10);
  await store.close();
});
