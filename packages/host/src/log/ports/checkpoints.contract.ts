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

  it('keeps the last position of each reader', async () => {
    expect(await store().checkpoints.position('r')).toBeNull();
    await store().checkpoints.putPosition('r', '1');
    await store().checkpoints.putPosition('other', '7');
    await store().checkpoints.putPosition('r', '2');
    expect(await store().checkpoints.position('r')).toBe('2');
    expect(await store().checkpoints.position('other')).toBe('7');
  });
}
