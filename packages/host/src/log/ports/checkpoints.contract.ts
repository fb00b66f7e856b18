/** What every store promises of checkpoints: the newest of a run, and the last position of each reader. */
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import { creation, runA, runB } from './samples.kit.ts';

export function checkpointsContract(open: Open<'log' | 'checkpoints'>): void {
  const store = eachStore(open);

  it('keeps only the newest checkpoint of a run', async () => {
    await store().log.append(creation(runA));
    const at = (seq: number) => ({ runId: runA, seq, format: 'f1', body: `{"seq":${seq}}` });
    expect(await store().checkpoints.get(runA)).toBeNull();
    await store().checkpoints.put(at(5));
    await store().checkpoints.put(at(9));
    await store().checkpoints.put(at(7));
    expect(await store().checkpoints.get(runA)).toEqual(at(9));
    expect(await store().checkpoints.get(runB)).toBeNull();
  });

  it('gives the newest checkpoint at or before a row', async () => {
    await store().log.append(creation(runA));
    const at = (seq: number) => ({ runId: runA, seq, format: 'f1', body: `{"seq":${seq}}` });
    for (const seq of [1_000, 2_100, 3_200]) await store().checkpoints.put(at(seq));
    expect(await store().checkpoints.get(runA)).toEqual(at(3_200));
    expect(await store().checkpoints.get(runA, 3_199)).toEqual(at(2_100));
    expect(await store().checkpoints.get(runA, 2_100)).toEqual(at(2_100));
    expect(await store().checkpoints.get(runA, 999)).toBeNull();
    expect(await store().checkpoints.get(runB, 9_999)).toBeNull();
    await store().checkpoints.put({ ...at(3_200), format: 'f2' });
    expect(await store().checkpoints.get(runA, 5_000)).toEqual({ ...at(3_200), format: 'f2' });
    expect(await store().checkpoints.get(runA, 3_199)).toEqual(at(2_100));
  });

  it.each([
    ['small', 100, 125],
    ['small', 100, 1_000],
    ['large', 200_000, 125],
    ['large', 200_000, 4_000],
  ])('thins out the checkpoints of a %s state of %i bytes, saved after every %i rows', async (_, bytes, every) => {
    const rows = 100_000;
    const body = 'x'.repeat(bytes);
    for (let seq = every; seq <= rows; seq += every)
      await store().checkpoints.put({ runId: runA, seq, format: 'f1', body });
    let count = 0;
    let longest = 0;
    for (let atMost = rows; ; count += 1) {
      const found = await store().checkpoints.get(runA, atMost);
      longest = Math.max(longest, atMost - (found?.seq ?? -1));
      if (found === null) break;
      atMost = found.seq - 1;
    }
    // The newest may stand close to the one before it.
    expect(count).toBeLessThanOrEqual(1 + rows / Math.max(150, bytes / 100));
    expect(longest).toBeLessThanOrEqual(Math.max(300, every, bytes / 50));
  });

  it('keeps the last position of each reader', async () => {
    expect(await store().checkpoints.position('r')).toBeNull();
    await store().checkpoints.putPosition('r', '1');
    await store().checkpoints.putPosition('other', '7');
    await store().checkpoints.putPosition('r', '2');
    expect(await store().checkpoints.position('r')).toBe('2');
    expect(await store().checkpoints.position('other')).toBe('7');
  });
}
