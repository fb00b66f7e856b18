/** What was acknowledged is there after the process ends, however it ends. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import type { IdempotencyRecord } from '../ports/idempotency.ts';
import { asked, context, creation, lease, resolved, row, runA, runB, started } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { folders, open } from './folder/folders.kit.ts';

const { fresh, copyOf } = folders();

const answer: IdempotencyRecord = {
  tenant: 't',
  endpoint: 'POST /v1/runs',
  key: 'k',
  requestDigest: 'd',
  state: 'completed',
  owner: null,
  until: null,
  status: 201,
  headers: '{}',
  body: '{}',
  at: 1,
};

async function fill({ log, definitions, checkpoints }: Store): Promise<void> {
  const rows = [started(), asked('i1'), resolved('i1'), asked('i2', 'clarification')];
  await log.append(
    creation(runA, { rows, idempotency: [{ record: answer, owner: null }], claim: lease('n1'), rest: { wakeAt: 700 } }),
  );
  await log.append(creation(runB, { claim: lease('n1', 0, 1e15) }));
  await definitions.put('h', '{"a":1}');
  await definitions.putWorkflow({ tenant: 't', workflowId: 'wf', version: '1', hash: 'h', registeredAt: 5 });
  await checkpoints.put({ runId: runA, seq: 3, format: 'f', body: '{}' });
}

async function picture({ log, runIndex, definitions, checkpoints, idempotency }: Store) {
  return {
    rows: await log.read({ contextId: context, afterCursor: 0, limit: 100 }),
    heads: await Promise.all([runA, runB].map((runId) => log.head(runId))),
    list: await runIndex.list({ tenant: 't', limit: 10 }),
    tagged: await runIndex.list({ tenant: 't', tag: 'red', limit: 10 }),
    inbox: await runIndex.interrupts(runA),
    records: [
      await definitions.get('h'),
      await definitions.workflow('t', 'wf'),
      await checkpoints.get(runA),
      await idempotency.get(answer),
    ],
  };
}

describe('a store that is opened again', () => {
  it('has everything after a clean close', async () => {
    const folder = fresh();
    const first = await open(folder);
    await fill(first);
    const before = await picture(first);
    await first.close();
    expect(existsSync(join(folder, 'cairn.db-wal'))).toBe(false);
    const second = await open(folder);
    expect(await picture(second)).toEqual(before);
    await second.close();
  });

  it('has everything after a crash', async () => {
    const folder = fresh();
    const first = await open(folder);
    await fill(first);
    const second = await open(copyOf(folder));
    expect(await picture(second)).toEqual(await picture(first));
    await first.close();
    await second.close();
  });

  it('has on the disk, after a crash, all that it shows from then on', async () => {
    const folder = fresh();
    const first = await open(folder);
    await fill(first);
    const copy = copyOf(folder);
    expect(statSync(join(copy, 'cairn.db-wal')).size).toBeGreaterThan(0);
    const second = await open(copy);
    // Nothing is left in the WAL that the database does not have.
    const db = new DatabaseSync(join(copy, 'cairn.db'));
    const { log, checkpointed } = present(db.prepare('PRAGMA wal_checkpoint(NOOP)').get());
    db.close();
    expect([log, Number(log) > 0]).toEqual([checkpointed, true]);
    await first.close();
    await second.close();
  });

  it('goes on where it was: seq, cursor, chain, fence, open questions', async () => {
    const folder = fresh();
    const first = await open(folder);
    await fill(first);
    const before = await rowsOf(first, runB);
    const fence = present(await first.log.head(runB)).fence;
    await first.close();
    const { log, close } = await open(folder);
    const appended = await log.append({ runId: runB, fence, at: 1, rows: [row('a')] });
    expect(appended.cursor).toBeGreaterThan(present(before.at(-1)).cursor);
    await log.append({ runId: runA, answers: 'i2', rows: [resolved('i2')] });
    const again = log.append({ runId: runA, answers: 'i1', rows: [resolved('i1')] });
    await expect(again).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
    for (const runId of [runA, runB]) {
      expect(verifyChain(await rowsOf({ log }, runId), runId)).toBeNull();
    }
    await close();
  });

  it('lets the leases of the process before be claimed at once, and keeps wakes', async () => {
    const folder = fresh();
    const first = await open(folder);
    await fill(first);
    await first.close();
    const second = await open(folder);
    expect(await second.queue.due()).toBe(0);
    const claim = (now: number) => second.queue.claim({ owner: 'n2', now, until: now + 1_000, limit: 9 });
    expect((await claim(10)).map((one) => one.runId)).toEqual([runB]);
    expect((await claim(700)).map((one) => one.runId)).toEqual([runA]);
    await second.close();
  });

  it('writes all that was accepted before it closes', async () => {
    const folder = fresh();
    const first = await open(folder);
    const accepted = Array.from({ length: 700 }, (_, i) => first.log.append(creation(`run_${i}` as RunId)));
    await first.close();
    await Promise.all(accepted);
    const second = await open(folder);
    expect((await second.runIndex.list({ tenant: 't', limit: 1_000 })).runs.length).toBe(700);
    await second.close();
  });
});
