import { eventPayloads } from '@cairn/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_ENTRY_BYTES, type NewMemoryEntry } from './memory.ts';
import { MemoryRuns } from './memory-runs.kit.ts';

let runs: MemoryRuns;
beforeEach(() => {
  runs = new MemoryRuns();
});

describe('what is written', () => {
  it('is there for the next turn of its run, as the wire has it, and not for its own', async () => {
    const runId = await runs.start('a');
    const writing = await runs.call(runId, 0);
    const entry = { content: 'Ada likes tea', tags: ['taste', '', 'taste'], expiresAt: runs.now + 1_000 };
    const kept = await runs.memory.put(writing, 'notes', entry);
    expect(kept).toEqual({
      id: expect.stringMatching(/^mem_/),
      content: 'Ada likes tea',
      tags: ['taste'],
      createdAt: new Date(runs.now).toISOString(),
      expiresAt: new Date(runs.now + 1_000).toISOString(),
    });
    const beside = await runs.call(runId, 0, 1);
    expect(await runs.memory.list(beside, 'notes')).toEqual([]);
    expect(await runs.memory.get(beside, 'notes', kept.id)).toBeNull();
    expect(await runs.memory.search(beside, 'notes', 'tea')).toEqual([]);
    const after = await runs.call(runId, 1);
    expect(await runs.memory.list(after, 'notes')).toEqual([kept]);
    expect(await runs.memory.get(after, 'notes', kept.id)).toEqual(kept);
    expect(await runs.memory.search(after, 'notes', 'tea')).toEqual([kept]);
  });

  it('is seen by runs that begin later, and never by one that had begun', async () => {
    const [first, second] = [await runs.start('a'), await runs.start('b')];
    await runs.memory.put(await runs.call(first, 0), 'notes', { content: 'x' });
    expect(await runs.memory.list(await runs.call(second, 5), 'notes')).toEqual([]);
    const third = await runs.start('c');
    expect(await runs.memory.list(await runs.call(third, 0), 'notes')).toHaveLength(1);
  });

  it('is told of without its content', async () => {
    const runId = await runs.start('a');
    const { id } = await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'private', tags: ['x'] });
    const [told] = await runs.rows(runId, 'memory.written');
    expect(told).toEqual({ memoryRef: 'notes', memoryId: id, nodeId: 'n', agentId: 'host:scribe', tags: ['x'] });
    expect(eventPayloads['memory.written'].safeParse(told).success).toBe(true);
    const [kept] = await runs.rows(runId, 'cairn.memory.kept');
    expect(eventPayloads['cairn.memory.kept'].safeParse(kept).success).toBe(true);
  });

  it('by a call that is made again is the same entry, also when another run has dropped it meanwhile', async () => {
    const runId = await runs.start('a');
    const first = await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'once' });
    const other = await runs.start('b');
    expect(await runs.memory.delete(await runs.call(other, 0), 'notes', first.id)).toBe(true);
    expect(await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'once' })).toEqual(first);
    expect(await runs.rows(runId, 'memory.written')).toHaveLength(1);
  });

  it('by a call that is made again is the same entry, told once, also when it has expired meanwhile', async () => {
    const runId = await runs.start('a');
    const entry = { content: 'once', expiresAt: runs.now + 10 };
    const first = await runs.memory.put(await runs.call(runId, 0), 'notes', entry);
    runs.now += 100;
    const again = await runs.memory.put(await runs.call(runId, 0), 'notes', entry);
    expect(again).toEqual(first);
    expect(await runs.rows(runId, 'memory.written')).toHaveLength(1);
    expect(await runs.rows(runId, 'cairn.memory.kept')).toHaveLength(1);
  });

  it('by two writes of one call is two entries', async () => {
    const call = await runs.call(await runs.start('a'), 0);
    const one = await runs.memory.put(call, 'notes', { content: 'one' }, 0);
    const two = await runs.memory.put(call, 'notes', { content: 'two' }, 1);
    expect(one.id).not.toBe(two.id);
  });

  it('is gone from the next turn on once it was deleted, and was never there for others', async () => {
    const runId = await runs.start('a');
    const { id } = await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'x' });
    const stranger = await runs.start('b', { tenant: 'other' });
    expect(await runs.memory.delete(await runs.call(stranger, 0), 'notes', id)).toBe(false);
    const deleting = await runs.call(runId, 1);
    expect(await runs.memory.delete(deleting, 'notes', id)).toBe(true);
    expect(await runs.memory.get(deleting, 'notes', id)).not.toBeNull();
    const after = await runs.call(runId, 2);
    expect(await runs.memory.get(after, 'notes', id)).toBeNull();
    expect(await runs.memory.delete(after, 'notes', id)).toBe(false);
  });
});

describe('what cannot be remembered', () => {
  it.each<[string, NewMemoryEntry, RegExp]>([
    ['that has expired', { content: 'x', expiresAt: 1_000_000 }, /expires at .* and now it is/],
    ['that expires at no instant', { content: 'x', expiresAt: Number.NaN }, /NaN/],
    ['without content', { content: ' \n' }, /content is empty/],
    ['that is too large', { content: 'é'.repeat(MAX_ENTRY_BYTES / 2 + 1) }, /65538 bytes/],
    ['with too many tags', { content: 'x', tags: Array.from({ length: 33 }, (_, i) => `t${i}`) }, /33 tags/],
    ['with a tag that is too long', { content: 'x', tags: ['t'.repeat(257)] }, /257 characters/],
  ])('is refused: an entry %s', async (_, entry, message) => {
    const runId = await runs.start('a');
    const writing = runs.memory.put(await runs.call(runId, 0), 'notes', entry);
    await expect(writing).rejects.toMatchObject({ code: 'validation_error', message: expect.stringMatching(message) });
    expect(await runs.rows(runId, 'memory.written')).toEqual([]);
  });

  it('leaves the largest entry alone', async () => {
    const runId = await runs.start('a');
    const content = 'é'.repeat(MAX_ENTRY_BYTES / 2);
    expect(await runs.memory.put(await runs.call(runId, 0), 'notes', { content })).toMatchObject({ content });
  });

  it.each(['', 'x'.repeat(257), 'a\u0000b', 'a\nb', '\ud800'])(
    'is what has no name: the reference %j gives nothing and takes nothing',
    async (memoryRef) => {
      const runId = await runs.start('a');
      const call = await runs.call(runId, 0);
      await expect(runs.memory.put(call, memoryRef, { content: 'x' })).rejects.toMatchObject({
        code: 'validation_error',
      });
      const after = await runs.call(runId, 1);
      expect(await runs.memory.list(after, memoryRef)).toEqual([]);
      expect(await runs.memory.get(after, memoryRef, 'mem_x')).toBeNull();
      expect(await runs.memory.search(after, memoryRef, 'x')).toEqual([]);
      expect(await runs.memory.delete(after, memoryRef, 'mem_x')).toBe(false);
    },
  );

  it('is half of a character: it is replaced', async () => {
    const runId = await runs.start('a');
    const kept = await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'a\ud800b', tags: ['\udc00'] });
    expect(kept).toMatchObject({ content: 'a\ufffdb', tags: ['\ufffd'] });
  });
});

describe('a memory', () => {
  it('is one tenant’s, whatever the reference says', async () => {
    const ours = await runs.start('a');
    const { id } = await runs.memory.put(await runs.call(ours, 0), 'agents/scribe', { content: 'ours' });
    const theirs = await runs.start('b', { tenant: 'other' });
    const call = await runs.call(theirs, 0);
    for (const memoryRef of ['agents/scribe', 't/agents/scribe', '../t/agents/scribe', 't']) {
      expect(await runs.memory.list(call, memoryRef)).toEqual([]);
      expect(await runs.memory.get(call, memoryRef, id)).toBeNull();
      expect(await runs.memory.search(call, memoryRef, 'ours')).toEqual([]);
    }
  });

  it('gives as many as are asked for, a hundred when nobody says, newest first', async () => {
    const runId = await runs.start('a');
    const call = await runs.call(runId, 0);
    for (let i = 0; i < 103; i += 1) await runs.memory.put(call, 'notes', { content: `note ${i}` }, i);
    const after = await runs.call(runId, 1);
    const contents = async (limit?: number) =>
      (await runs.memory.list(after, 'notes', { limit })).map(({ content }) => content);
    expect(await contents()).toHaveLength(100);
    expect(await contents(0)).toHaveLength(100);
    expect(await contents(2)).toEqual(['note 102', 'note 101']);
    expect(await contents(1_000_000)).toHaveLength(103);
  });

  it('forgets what has expired', async () => {
    const runId = await runs.start('a');
    await runs.memory.put(await runs.call(runId, 0), 'notes', { content: 'x', expiresAt: runs.now + 1 });
    const after = await runs.call(runId, 1);
    expect(await runs.memory.list(after, 'notes')).toHaveLength(1);
    runs.now += 1;
    expect(await runs.memory.list(after, 'notes')).toEqual([]);
  });
});
