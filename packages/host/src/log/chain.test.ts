/** The hash recipe is pinned to fixed values, and every change to a stored row is found. */

import { createHash } from 'node:crypto';
import type { ContextId, EventId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { rowsOf } from '../../test/kit/rows-of.ts';
import { chainHash, chainStart, rowHash, verifyChain } from './chain.ts';
import { inMemoryStore } from './in-memory/store.ts';
import type { Row } from './ports/rows.ts';
import { creation, row, runA, started } from './ports/samples.kit.ts';

async function history(): Promise<readonly Row[]> {
  const store = inMemoryStore();
  const rich = row('node.started', { at: 2_000, nodeId: 'é"', cause: 0, task: '{"kind":"tool-start"}' });
  const foreign = row('b', { at: 2_000, cause: 'run_x:4' as EventId, audience: 'operator', payload: '{"a":"😀"}' });
  await store.log.append(creation(runA, { rows: [started(), rich, foreign] }));
  return rowsOf(store, runA);
}

const sha = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the hash recipe', () => {
  it('is sha-256 over the columns as a JSON array and the payload, on lines of their own', () => {
    const bare = { seq: 3, at: 5, type: 't', nodeId: null, cause: null } as const;
    expect(rowHash({ ...bare, audience: 'client', payload: '{}' })).toBe(sha('[3,5,"t",null,null,"client"]\n{}'));
    expect(rowHash({ ...bare, nodeId: 'é"', cause: 2, audience: 'operator', payload: '{"a":1}' })).toBe(
      sha('[3,5,"t","é\\"",2,"operator"]\n{"a":1}'),
    );
  });

  it.each([16_383, 16_384, 500_000])('is the same for a payload of %i characters', (chars) => {
    const payload = JSON.stringify('é😀'.repeat(chars)).slice(-chars);
    const columns = {
      seq: 3,
      at: 5,
      type: 't',
      nodeId: null,
      cause: 'run_x:4' as EventId,
      audience: 'client',
    } as const;
    expect(rowHash({ ...columns, payload })).toBe(sha(`[3,5,"t",null,"run_x:4","client"]\n${payload}`));
  });

  it('covers neither the run, the context, the cursor nor the task face', async () => {
    const rows = await history();
    const elsewhere = rows.map((row) => ({
      ...row,
      runId: 'run_fork' as RunId,
      contextId: 'ctx_fork' as ContextId,
      cursor: row.cursor + 100,
      task: row.task === null ? '{"kind":"better"}' : null,
    }));
    expect(verifyChain(elsewhere, runA)).toBeNull();
  });

  it('chains the hex texts from the hash of the origin', () => {
    expect(chainStart('run_1' as RunId)).toBe(sha('run_1'));
    expect(chainHash('aa', 'bb')).toBe(sha('aabb'));
  });

  it('gives the hashes that were released', () => {
    const empty = { seq: 0, at: 0, type: 't', nodeId: null, cause: null } as const;
    const own = rowHash({ ...empty, audience: 'client', payload: '{}' });
    expect(own).toBe('4fa3cfcc1cfaa86e40d4bb0adf3c13190bbea6bc2da0c965caacaa0372856a7e');
    expect(chainHash(chainStart('run_0' as RunId), own)).toBe(
      'e6537772f2ad4df7ec61b362b6994b4f2311f1b1f5e6321e37b45cf550a3fdde',
    );
  });
});

describe('verifying a chain', () => {
  it('accepts the rows as they were written, and any prefix of them', async () => {
    const rows = await history();
    for (let length = 0; length <= rows.length; length += 1) {
      expect(verifyChain(rows.slice(0, length), runA)).toBeNull();
    }
  });

  it('finds a changed character in any covered column or body of any row', async () => {
    const rows = await history();
    const fields: readonly (keyof Row)[] = ['at', 'type', 'nodeId', 'cause', 'audience', 'payload', 'rowHash', 'hash'];
    for (const [place, original] of rows.entries()) {
      for (const field of fields) {
        const value = original[field];
        const changed = { ...original, [field]: typeof value === 'number' ? value + 1 : `${value ?? ''}x` } as Row;
        expect(verifyChain(rows.with(place, changed), runA), `${field} of ${place}`).toMatchObject({ seq: place });
      }
    }
  });

  it('finds every single flipped byte of a body', async () => {
    const rows = await history();
    const { payload } = present(rows[2]);
    for (let i = 0; i < payload.length; i += 1) {
      const flipped = payload.slice(0, i) + String.fromCharCode(payload.charCodeAt(i) ^ 1) + payload.slice(i + 1);
      const tampered = rows.with(2, { ...present(rows[2]), payload: flipped });
      expect(verifyChain(tampered, runA)).toEqual({ seq: 2, reason: 'row-hash' });
    }
  });

  it('finds a row that is missing, moved, or from another origin', async () => {
    const rows = await history();
    expect(verifyChain(rows.toSpliced(1, 1), runA)).toEqual({ seq: 1, reason: 'seq' });
    expect(verifyChain([present(rows[1]), present(rows[0]), present(rows[2])], runA)).toEqual({
      seq: 0,
      reason: 'seq',
    });
    expect(verifyChain(rows, 'run_other' as RunId)).toEqual({ seq: 0, reason: 'chain-hash' });
  });
});
