/** An artifact of a run as one JSON document. */
import { parseShape, runArtifact } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Desk, deskKeys } from './desk.kit.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

const get = (
  runId: string,
  path: string,
  { as = deskKeys.ann, headers = {} }: { as?: string; headers?: object } = {},
) =>
  fetch(`${desk.url}/v1/runs/${runId}/artifacts/${path}`, { headers: { authorization: `Bearer ${as}`, ...headers } });

async function document(runId: string, path: string) {
  const answer = await get(runId, path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  return parseShape(runArtifact, await answer.json(), 'The answer');
}

const contentAt = async (url: string) =>
  (await fetch(desk.url + url, { headers: { authorization: `Bearer ${deskKeys.ann}` } })).text();

test('a file has its text, a file that is no text its bytes, and both their address', async () => {
  const { runId, contextId } = await desk.ran(async ({ file }) => {
    const note = file('notes/a b.md');
    await note.write('\uFEFF# Zürich');
    await note.close();
    const image = file('dot.png');
    await image.write(Uint8Array.of(0x89, 0x50, 0xff));
    await image.close();
    return null;
  });
  const note = await document(runId, 'notes%2Fa%20b.md');
  expect(note).toMatchObject({ artifactId: 'notes/a b.md', contextId, runId, family: 'file', version: 1 });
  expect(note).toMatchObject({ mimeType: 'text/markdown', text: '\uFEFF# Zürich', size: 12 });
  expect(Buffer.from(await contentAt(note.url)).toString()).toContain('# Zürich');
  const image = await document(runId, 'dot.png');
  expect(image).toMatchObject({ mimeType: 'image/png', base64: 'iVD/' });
  expect(image.text).toBeUndefined();
});

test('a record and a dataset are in it, and an old version by its number', async () => {
  const { runId } = await desk.ran(async ({ data, dataset }) => {
    await data('totals', { sum: 1 });
    await data('totals', { sum: 2 });
    const rows = dataset('orders', { schema: { type: 'object' } });
    await rows.write([{ n: 1 }]);
    await rows.write([{ n: 2 }]);
    await rows.close();
    return null;
  });
  expect(await document(runId, 'totals')).toMatchObject({ family: 'data', version: 2, data: { sum: 2 } });
  const first = await document(runId, 'totals?version=1');
  expect(first).toMatchObject({ version: 1, data: { sum: 1 } });
  expect(JSON.parse(await contentAt(first.url))).toEqual({ data: { sum: 1 } });
  const schema = { type: 'object' };
  expect(await document(runId, 'orders')).toMatchObject({ family: 'dataset', schema, rows: [{ n: 1 }, { n: 2 }] });
  const known = await get(runId, 'totals', { headers: { 'if-none-match': '"2"' } });
  expect([known.status, known.headers.get('etag')]).toEqual([304, '"2"']);
});

test('large content is left to its address', async () => {
  const { runId } = await desk.ran(async ({ file, dataset }) => {
    for (const [name, size] of [
      ['fits.txt', 262_144],
      ['large.txt', 262_145],
    ] as const) {
      const written = file(name);
      await written.write('x'.repeat(size));
      await written.close();
    }
    const rows = dataset('wide');
    for (let i = 0; i < 4; i += 1) await rows.write([{ text: 'y'.repeat(100_000) }]);
    await rows.close();
    return null;
  });
  expect((await document(runId, 'fits.txt')).text).toHaveLength(262_144);
  const large = await document(runId, 'large.txt');
  expect(large).toMatchObject({ size: 262_145 });
  expect(large).not.toHaveProperty('text');
  expect(await contentAt(large.url)).toHaveLength(262_145);
  const wide = await document(runId, 'wide');
  expect(wide).toMatchObject({ family: 'dataset', size: 4 });
  expect(wide).not.toHaveProperty('rows');
});

test('a later turn of the context finds it; other runs, other tenants and other scopes do not', async () => {
  const first = await desk.ran(async ({ data }) => ({ ...(await data('shared', { n: 1 })) }));
  const later = await desk.ran(async () => null, { 'cairn.contextId': first.contextId });
  const elsewhere = await desk.ran(async () => null);
  expect(await document(later.runId, 'shared')).toMatchObject({ runId: first.runId, data: { n: 1 } });
  const statusOf = async (runId: string, as: string) => (await get(runId, 'shared', { as })).status;
  expect(await statusOf(elsewhere.runId, deskKeys.ann)).toBe(404);
  expect(await statusOf(first.runId, deskKeys.bob)).toBe(404);
  expect(await statusOf('run_nobody', deskKeys.ann)).toBe(404);
  // No scope implies another.
  expect(await statusOf(first.runId, deskKeys.reader)).toBe(403);
});

test('the client reads it', async () => {
  const { runId } = await desk.ran(async ({ data }) => ({ ...(await data('totals', { sum: 1 })) }));
  expect(await desk.client().runs.artifact(runId, 'totals', { version: 1 })).toMatchObject({ data: { sum: 1 } });
});
