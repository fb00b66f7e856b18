import { eventPayloads } from '@cairn/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_ENTRY_BYTES, type NewMemory } from './memory.ts';
import { MemoryBench } from './memory-bench.kit.ts';

let bench: MemoryBench;
beforeEach(() => {
  bench = new MemoryBench();
});

describe('what is written', () => {
  it('is there for the next turn of its run, as the wire has it, and not for its own', async () => {
    const runId = await bench.start('a');
    const writing = await bench.call(runId, 0);
    const entry = { content: 'Ada likes tea', tags: ['taste', '', 'taste'], expiresAt: bench.now + 1_000 };
    const kept = await bench.memory.put(writing, 'notes', entry);
    expect(kept).toEqual({
      id: expect.stringMatching(/^mem_/),
      content: 'Ada likes tea',
      tags: ['taste'],
      createdAt: new Date(bench.now).toISOString(),
      expiresAt: new Date(bench.now + 1_000).toISOString(),
    });
    const beside = await bench.call(runId, 0, 1);
    expect(await bench.memory.list(beside, 'notes')).toEqual([]);
    expect(await bench.memory.get(beside, 'notes', kept.id)).toBeNull();
    expect(await bench.memory.search(beside, 'notes', 'tea')).toEqual([]);
    const after = await bench.call(runId, 1);
    expect(await bench.memory.list(after, 'notes')).toEqual([kept]);
    expect(await bench.memory.get(after, 'notes', kept.id)).toEqual(kept);
    expect(await bench.memory.search(after, 'notes', 'tea')).toEqual([kept]);
  });

  it('is seen by runs that begin later, and never by one that had begun', async () => {
    const [first, second] = [await bench.start('a'), await bench.start('b')];
    await bench.memory.put(await bench.call(first, 0), 'notes', { content: 'x' });
    expect(await bench.memory.list(await bench.call(second, 5), 'notes')).toEqual([]);
    const third = await bench.start('c');
    expect(await bench.memory.list(await bench.call(third, 0), 'notes')).toHaveLength(1);
  });

  it('is told of without its content', async () => {
    const runId = await bench.start('a');
    const { id } = await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'private', tags: ['x'] });
    const [told] = await bench.rows(runId, 'memory.written');
    expect(told).toEqual({ memoryRef: 'notes', memoryId: id, nodeId: 'n', agentId: 'host:scribe', tags: ['x'] });
    expect(eventPayloads['memory.written'].safeParse(told).success).toBe(true);
    const [kept] = await bench.rows(runId, 'cairn.memory.kept');
    expect(eventPayloads['cairn.memory.kept'].safeParse(kept).success).toBe(true);
  });

  it('by a call that is made again is the same entry, also when another run has dropped it meanwhile', async () => {
    const runId = await bench.start('a');
    const first = await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'once' });
    const other = await bench.start('b');
    expect(await bench.memory.delete(await bench.call(other, 0), 'notes', first.id)).toBe(true);
    expect(await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'once' })).toEqual(first);
    expect(await bench.rows(runId, 'memory.written')).toHaveLength(1);
  });

  it('by a call that is made again is the same entry, told once, also when it has expired meanwhile', async () => {
    const runId = await bench.start('a');
    const entry = { content: 'once', expiresAt: bench.now + 10 };
    const first = await bench.memory.put(await bench.call(runId, 0), 'notes', entry);
    bench.now += 100;
    const again = await bench.memory.put(await bench.call(runId, 0), 'notes', entry);
    expect(again).toEqual(first);
    expect(await bench.rows(runId, 'memory.written')).toHaveLength(1);
    expect(await bench.rows(runId, 'cairn.memory.kept')).toHaveLength(1);
  });

  it('by two writes of one call is two entries', async () => {
    const call = await bench.call(await bench.start('a'), 0);
    const one = await bench.memory.put(call, 'notes', { content: 'one' }, 0);
    const two = await bench.memory.put(call, 'notes', { content: 'two' }, 1);
    expect(one.id).not.toBe(two.id);
  });

  it('is gone from the next turn on once it was deleted, and was never there for others', async () => {
    const runId = await bench.start('a');
    const { id } = await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'x' });
    const stranger = await bench.start('b', { tenant: 'other' });
    expect(await bench.memory.delete(await bench.call(stranger, 0), 'notes', id)).toBe(false);
    const deleting = await bench.call(runId, 1);
    expect(await bench.memory.delete(deleting, 'notes', id)).toBe(true);
    expect(await bench.memory.get(deleting, 'notes', id)).not.toBeNull();
    const after = await bench.call(runId, 2);
    expect(await bench.memory.get(after, 'notes', id)).toBeNull();
    expect(await bench.memory.delete(after, 'notes', id)).toBe(false);
  });
});

describe('what cannot be remembered', () => {
  it.each<[string, NewMemory, RegExp]>([
    ['that has expired', { content: 'x', expiresAt: 1_000_000 }, /expires at .* and now it is/],
    ['that expires at no instant', { content: 'x', expiresAt: Number.NaN }, /NaN/],
    ['without content', { content: ' \n' }, /content is empty/],
    ['that is too large', { content: 'é'.repeat(MAX_ENTRY_BYTES / 2 + 1) }, /65538 bytes/],
    ['with too many tags', { content: 'x', tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }, /33 tags/],
    ['with a tag that is too long', { content: 'x', tags: ['t'.repeat(257)] }, /257 characters/],
  ])('is refused: an entry %s', async (_, entry, message) => {
    const runId = await bench.start('a');
    const writing = bench.memory.put(await bench.call(runId, 0), 'notes', entry);
    await expect(writing).rejects.toMatchObject({ code: 'validation_error', message: expect.stringMatching(message) });
    expect(await bench.rows(runId, 'memory.written')).toEqual([]);
  });

  it('leaves the largest entry alone', async () => {
    const runId = await bench.start('a');
    const content = 'é'.repeat(MAX_ENTRY_BYTES / 2);
    expect(await bench.memory.put(await bench.call(runId, 0), 'notes', { content })).toMatchObject({ content });
  });

  it.each(['', 'x'.repeat(257), 'a\u0000b', 'a\nb', '\ud800'])(
    'is what has no name: the reference %j gives nothing and takes nothing',
    async (memoryRef) => {
      const runId = await bench.start('a');
      const call = await bench.call(runId, 0);
      await expect(bench.memory.put(call, memoryRef, { content: 'x' })).rejects.toMatchObject({
        code: 'validation_error',
      });
      const after = await bench.call(runId, 1);
      expect(await bench.memory.list(after, memoryRef)).toEqual([]);
      expect(await bench.memory.get(after, memoryRef, 'mem_x')).toBeNull();
      expect(await bench.memory.search(after, memoryRef, 'x')).toEqual([]);
      expect(await bench.memory.delete(after, memoryRef, 'mem_x')).toBe(false);
    },
  );

  it('is half of a character: it is replaced', async () => {
    const runId = await bench.start('a');
    const kept = await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'a\ud800b', tags: ['\udc00'] });
    expect(kept).toMatchObject({ content: 'a\ufffdb', tags: ['\ufffd'] });
  });
});

describe('a memory', () => {
  it('is one tenant’s, whatever the reference says', async () => {
    const ours = await bench.start('a');
    const { id } = await bench.memory.put(await bench.call(ours, 0), 'agents/scribe', { content: 'ours' });
    const theirs = await bench.start('b', { tenant: 'other' });
    const call = await bench.call(theirs, 0);
    for (const memoryRef of ['agents/scribe', 't/agents/scribe', '../t/agents/scribe', 't']) {
      expect(await bench.memory.list(call, memoryRef)).toEqual([]);
      expect(await bench.memory.get(call, memoryRef, id)).toBeNull();
      expect(await bench.memory.search(call, memoryRef, 'ours')).toEqual([]);
    }
  });

  it('gives as many as are asked for, a hundred when nobody says, newest first', async () => {
    const runId = await bench.start('a');
    const call = await bench.call(runId, 0);
    for (let i = 0; i < 103; i += 1) await bench.memory.put(call, 'notes', { content: `note ${i}` }, i);
    const after = await bench.call(runId, 1);
    const contents = async (limit?: number) =>
      (await bench.memory.list(after, 'notes', { limit })).map(({ content }) => content);
    expect(await contents()).toHaveLength(100);
    expect(await contents(0)).toHaveLength(100);
    expect(await contents(2)).toEqual(['note 102', 'note 101']);
    expect(await contents(1_000_000)).toHaveLength(103);
  });

  it('forgets what has expired', async () => {
    const runId = await bench.start('a');
    await bench.memory.put(await bench.call(runId, 0), 'notes', { content: 'x', expiresAt: bench.now + 1 });
    const after = await bench.call(runId, 1);
    expect(await bench.memory.list(after, 'notes')).toHaveLength(1);
    bench.now += 1;
    expect(await bench.memory.list(after, 'notes')).toEqual([]);
  });
});
