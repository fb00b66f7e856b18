/** Artifacts with the client library against a whole host: how they fill, edits, conflicts. */
import { ArtifactConflict, type ArtifactState, type Context, createClient } from '@cairn/client/context';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Desk } from './desk.kit.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

const begun = async (): Promise<Context> => {
  const context = desk.client().context();
  await context.send('Go.');
  return context;
};

/** States of an artifact until one of which something is true. */
async function until(
  context: Context,
  artifactId: string,
  isSo: (state: ArtifactState) => boolean,
): Promise<readonly ArtifactState[]> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const seen: ArtifactState[] = [];
  for await (const state of context.artifacts.watch(artifactId, { signal: stop.signal })) {
    seen.push(state);
    if (isSo(state)) return seen;
  }
  return seen;
}

test('a file is seen while it fills, then as its version; an edit is the next one', async () => {
  const gate = Promise.withResolvers<void>();
  desk.work = async ({ file }) => {
    const report = file('report.md');
    await report.write('# Report\n');
    await gate.promise;
    await report.write('42 orders.\n');
    await report.close();
    return null;
  };
  const context = await begun();
  const [first] = (await until(context, 'report.md', ({ open }) => open !== null)).slice(-1);
  expect(first).toMatchObject({ current: null, open: { text: '# Report\n', version: 1 } });
  await expect(context.artifacts.read('report.md')).rejects.toMatchObject({ details: { open: true } });
  gate.resolve();
  const [written] = (await until(context, 'report.md', ({ current }) => current !== null)).slice(-1);
  expect(written).toMatchObject({ open: null, current: { text: '# Report\n42 orders.\n', version: 1 } });

  const saved = await context.artifacts.save('report.md', '# Bericht\nÄpfel.\n', { version: 1 });
  expect(saved).toMatchObject({ artifactId: 'report.md', version: 2 });
  const reading = await context.artifacts.read('report.md');
  expect([reading.version, reading.mimeType, await reading.text()]).toEqual([
    2,
    expect.stringContaining('text/markdown'),
    '# Bericht\nÄpfel.\n',
  ]);
  const [edited] = await until(context, 'report.md', () => true);
  expect(edited?.current).toMatchObject({ text: '# Bericht\nÄpfel.\n', version: 2 });
});

test('an edit of an old version is a conflict that names the current one; an update merges instead', async () => {
  desk.work = async ({ file }) => {
    const list = file('list.txt');
    await list.write('a\n');
    await list.close();
    return null;
  };
  const context = await begun();
  await until(context, 'list.txt', ({ current }) => current !== null);
  await context.artifacts.save('list.txt', 'a\nb\n', { version: 1 });
  const conflict = await context.artifacts.save('list.txt', 'a\nc\n', { version: 1 }).catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(ArtifactConflict);
  expect(conflict).toMatchObject({ currentVersion: 2, openVersion: null, retryable: true });
  expect(await context.artifacts.save('list.txt', 'x', {}).catch((error: unknown) => error)).toMatchObject({
    currentVersion: 2,
  });

  let attempts = 0;
  const saved = await context.artifacts.update('list.txt', async (current) => {
    attempts += 1;
    const text = (await current?.text()) ?? '';
    // Somebody else saves while this edit is made.
    if (attempts === 1) await context.artifacts.save('list.txt', `${text}c\n`, { version: 2 });
    return `${text}d\n`;
  });
  expect([attempts, saved.version]).toEqual([2, 4]);
  expect(await (await context.artifacts.read('list.txt')).text()).toBe('a\nb\nc\nd\n');
});

test('records, datasets and bytes are saved as what they are, also as new artifacts', async () => {
  desk.work = async () => null;
  const context = await begun();
  const { artifacts } = context;
  await artifacts.save('totals', { data: { orders: 42 } });
  await artifacts.save('orders', { rows: [{ id: 1 }, { id: 2 }], schema: { type: 'object' } });
  await artifacts.update('bytes.bin', (current) => {
    expect(current).toBeNull();
    return new Uint8Array([0, 255, 1]);
  });
  await artifacts.save('page.json', new Blob(['{"data": {}}'], { type: 'application/json' }));
  const { artifacts: list } = await artifacts.list();
  expect(list.map(({ artifactId, family }) => [artifactId, family])).toEqual([
    ['bytes.bin', 'file'],
    ['orders', 'dataset'],
    ['page.json', 'file'],
    ['totals', 'data'],
  ]);
  expect(await (await artifacts.read('totals')).json()).toEqual({ data: { orders: 42 } });
  expect(await (await artifacts.read('orders')).json()).toMatchObject({ rows: [{ id: 1 }, { id: 2 }] });
  expect([...(await (await artifacts.read('bytes.bin')).bytes())]).toEqual([0, 255, 1]);
});

test('a page with a read token watches and reads, and cannot save', async () => {
  desk.work = async ({ data }) => {
    await data('totals', { orders: 1 });
    return null;
  };
  const client = desk.client();
  const context = client.context();
  const { contextId, taskId } = await context.send('Go.');
  const { token } = await client.readTokens.create(taskId, { of: 'context' });
  const reader = createClient({ url: desk.url }).context(contextId, { token });
  const [state] = await until(reader, 'totals', () => true);
  expect(state?.current?.data).toEqual({ orders: 1 });
  expect(await (await reader.artifacts.read('totals')).json()).toEqual({ data: { orders: 1 } });
  await expect(reader.artifacts.save('totals', { data: {} }, { version: 1 })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
