/** The memory store keeps the contract, and reports a listener that throws. */
import { describe, expect, it } from 'vitest';
import type { Commit } from '../ports/event-log.ts';
import { creation, runA } from '../ports/samples.kit.ts';
import { storeContract } from '../ports/store.contract.ts';
import { inMemoryStore } from './store.ts';

describe('the memory store', () => {
  storeContract(() => inMemoryStore());

  it('reports a listener that throws and tells the others all the same', async () => {
    const faults: unknown[] = [];
    const heard: Commit[] = [];
    const store = inMemoryStore({ onFault: (error) => faults.push(error) });
    const broken = new Error('broken listener');
    store.log.follow(() => {
      throw broken;
    });
    store.log.follow((commit) => heard.push(commit));
    await expect(store.log.append(creation(runA))).resolves.toMatchObject({ seq: 0 });
    expect(faults).toEqual([broken]);
    expect(heard.length).toBe(1);
  });
});
