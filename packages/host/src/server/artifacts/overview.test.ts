/** The artifacts of a tenant in one answer, over a whole host. */
import type { ArtifactOverview } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Desk, type DeskWork, deskKeys } from './desk.kit.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

const writes =
  (...names: readonly string[]): DeskWork =>
  async ({ file }) => {
    for (const name of names) {
      const one = file(name);
      await one.write('text');
      await one.close();
    }
    return null;
  };

const get = async (query = '', key = deskKeys.ann) => {
  const answer = await fetch(`${desk.url}/v1/host/cairn/artifacts${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: answer.status, body: (await answer.json()) as ArtifactOverview & { error?: string } };
};

test('lists the contexts that have artifacts, each once, with the run that it began with', async () => {
  const first = await desk.ran(writes('a.md', 'b.md'));
  await desk.ran(async () => null);
  const second = await desk.ran(writes('c.md'));
  const again = await desk.ran(writes('d.md'), { 'cairn.contextId': first.contextId });
  const { status, body } = await get();
  expect([status, body.nextCursor]).toEqual([200, null]);
  expect(body.contexts).toMatchObject([
    { contextId: first.contextId, runId: first.runId, open: false, more: false },
    { contextId: second.contextId, runId: second.runId },
  ]);
  const names = body.contexts.map(({ artifacts }) => artifacts.map(({ artifactId }) => artifactId));
  expect(names).toEqual([['a.md', 'b.md', 'd.md'], ['c.md']]);
  expect(body.contexts[0]?.artifacts[2]).toMatchObject({ taskId: again.runId, version: 1, open: false });
  expect(await desk.client().artifacts({ limit: 20 })).toEqual(body);
});

test('is read page by page, bounded, and shows a tenant nothing of another', async () => {
  const seen: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < 9; pages += 1) {
    const { body } = await get(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(body.contexts.length).toBeLessThanOrEqual(1);
    seen.push(...body.contexts.map(({ contextId }) => contextId));
    cursor = body.nextCursor;
  }
  expect([cursor, new Set(seen).size]).toEqual([null, 2]);
  expect(await get('', deskKeys.bob)).toMatchObject({ status: 200, body: { contexts: [], nextCursor: null } });
  for (const query of ['?limit=0', '?limit=51', '?cursor=x'])
    expect(await get(query)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
});

test('tells that a context has more artifacts than an answer shows', async () => {
  const names = Array.from({ length: 51 }, (_, i) => `file-${String(i).padStart(2, '0')}.md`);
  const { contextId } = await desk.ran(writes(...names));
  const [newest] = (await get('?limit=1')).body.contexts;
  expect([newest?.contextId, newest?.more, newest?.artifacts.length]).toEqual([contextId, true, 50]);
});
