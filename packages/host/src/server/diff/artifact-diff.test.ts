/** Artifacts of two runs compared over HTTP: which differ, and in which lines. */
import { randomBytes } from 'node:crypto';
import { type ArtifactDiff, type RunDiff, type RunEventDoc, runDiff } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Desk, type DeskWork, deskKeys } from '../artifacts/desk.kit.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

type Section = RunDiff['stateDiff']['cairn']['artifacts'];

async function diffOf(a: string, b: string, query = ''): Promise<RunDiff> {
  const url = `${desk.url}/v1/runs/${a}:diff?against=${b}${query}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${deskKeys.ann}` } });
  expect(response.status).toBe(200);
  return runDiff.parse(await response.json()) as RunDiff;
}

const compared = async (a: DeskWork, b: DeskWork): Promise<Section> => {
  const [one, other] = [await desk.ran(a), await desk.ran(b)];
  return (await diffOf(one.runId, other.runId)).stateDiff.cairn.artifacts;
};

/** Writes each text as a file, one version after the other. */
const files =
  (...written: readonly (readonly [name: string, content: string | Uint8Array])[]): DeskWork =>
  async ({ file }) => {
    for (const [name, content] of written) {
      const open = file(name);
      for (let at = 0; at < content.length; at += 200_000) await open.write(content.slice(at, at + 200_000));
      await open.close();
    }
    return null;
  };

const numbered = (count: number, name = 'line') => Array.from({ length: count }, (_, i) => `${name} ${i}\n`);
const one = ({ entries }: Section): ArtifactDiff => {
  expect(entries).toHaveLength(1);
  return entries[0] as ArtifactDiff;
};

test('a changed text is shown by its changed lines with their neighbours, an equal one is counted', async () => {
  const lines = numbered(40);
  const changed = lines.map((line, i) => (i === 20 ? 'another\n' : line));
  const section = await compared(
    files(['report.md', lines.join('')], ['same.md', 'the same']),
    files(['report.md', changed.join('')], ['same.md', 'the same']),
  );
  expect(section).toMatchObject({ changed: 1, same: 1 });
  const entry = one(section);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(entry).toMatchObject({
    key: 'report.md',
    op: 'changed',
    a: { artifactId: 'report.md', version: 1, versions: 1, family: 'file', mimeType: 'text/markdown', size: 310 },
    b: { sha256: hash, size: 310 },
    changes: [],
  });
  expect(entry.a?.sha256).not.toBe(entry.b?.sha256);
  expect(entry.content).toEqual({
    compared: 'lines',
    added: 1,
    removed: 1,
    hunks: [
      {
        a: { start: 18, lines: 7 },
        b: { start: 18, lines: 7 },
        lines: [
          ...[17, 18, 19].map((n) => ({ op: 'same', text: `line ${n}` })),
          { op: 'removed', text: 'line 20' },
          { op: 'added', text: 'another' },
          ...[21, 22, 23].map((n) => ({ op: 'same', text: `line ${n}` })),
        ],
      },
    ],
  });
});

test('an artifact of one run only is added or removed, with its lines', async () => {
  const { entries } = await compared(files(['old.md', 'gone\n']), files(['new.md', 'fresh\nlines']));
  expect(entries).toMatchObject([
    {
      key: 'new.md',
      op: 'added',
      content: {
        added: 2,
        removed: 0,
        hunks: [
          {
            a: { start: 0, lines: 0 },
            b: { start: 1, lines: 2 },
            lines: [
              { op: 'added', text: 'fresh' },
              { op: 'added', text: 'lines', noNewline: true },
            ],
          },
        ],
      },
    },
    { key: 'old.md', op: 'removed', content: { added: 0, removed: 1 } },
  ]);
  expect(entries[0]).not.toHaveProperty('a');
  expect(entries[1]).not.toHaveProperty('b');
});

test('records are compared as JSON whatever the order of their keys, datasets row by row', async () => {
  const work =
    (sum: number, ids: readonly number[]): DeskWork =>
    async ({ data, dataset }) => {
      await data('equal', sum === 1 ? { a: 1, b: 2 } : { b: 2, a: 1 });
      await data('totals', { sum, rest: [1, 2] });
      const rows = dataset('orders');
      await rows.write(ids.map((id) => ({ id })));
      await rows.close();
      return null;
    };
  const { entries, same } = await compared(work(1, [1, 2, 3]), work(2, [1, 3, 4]));
  expect([same, entries.map(({ key }) => key)]).toEqual([1, ['orders', 'totals']]);
  const shown = entries.map(({ content }) =>
    content.hunks?.flatMap(({ lines }) => lines.filter(({ op }) => op !== 'same').map(({ op, text }) => [op, text])),
  );
  expect(shown).toEqual([
    [
      ['removed', '{"id":2}'],
      ['added', '{"id":4}'],
    ],
    [
      ['removed', '  "sum": 1'],
      ['added', '  "sum": 2'],
    ],
  ]);
  expect(entries[0]).toMatchObject({ a: { family: 'dataset', size: 3 } });
});

test('another number of versions, another type and other earlier versions are differences', async () => {
  const typed =
    (mimeType: string): DeskWork =>
    async ({ file }) => {
      const open = file('page', { mimeType });
      await open.write('<p>');
      await open.close();
      return null;
    };
  expect(one(await compared(typed('text/plain'), typed('text/html')))).toMatchObject({
    changes: [{ path: 'mimeType', a: 'text/plain', b: 'text/html' }],
    content: { compared: 'same' },
  });
  const drafts = one(await compared(files(['d', 'x'], ['d', 'z']), files(['d', 'y'], ['d', 'y'], ['d', 'z'])));
  expect(drafts).toMatchObject({ a: { versions: 2 }, b: { versions: 3 }, content: { compared: 'same' } });
  expect(drafts.changes.map(({ path }) => path)).toEqual(['versions', 'earlier.0', 'earlier.1']);
});

test('binary content, large content and texts with nothing in common are compared by their hash', async () => {
  const binary = () => Buffer.concat([Buffer.from([0]), randomBytes(300_000)]);
  const large = (end: string) => `${'x'.repeat(1_100_000)}${end}`;
  const section = await compared(
    files(
      ['bin', binary()],
      ['blank', '\n'.repeat(30_000)],
      ['large.txt', large('a')],
      ['latin', Buffer.from([0xe9])],
      ['other', numbered(1_200).join('')],
    ),
    files(
      ['bin', binary()],
      ['blank', '\n'.repeat(30_001)],
      ['large.txt', large('b')],
      ['latin', Buffer.from([0xe8])],
      ['other', numbered(1_200, 'row').join('')],
    ),
  );
  expect(section.entries.map(({ key, content }) => [key, content])).toEqual([
    ['bin', { compared: 'binary' }],
    ['blank', { compared: 'too_large', limit: 20_000 }],
    ['large.txt', { compared: 'too_large', limit: 1_048_576 }],
    ['latin', { compared: 'binary' }],
    ['other', { compared: 'too_different', limit: 1_000 }],
  ]);
  for (const { a, b } of section.entries) expect(a?.sha256).not.toBe(b?.sha256);
});

test('a long difference shows its beginning, and says how much is left out', async () => {
  const { content } = one(await compared(files(['log', '']), files(['log', numbered(900).join('')])));
  expect(content).toMatchObject({ compared: 'lines', added: 900, leftOut: 500 });
  expect(content.hunks?.[0]?.lines).toHaveLength(400);
});

test('the limit bounds the artifacts, and the diff says how many are left out', async () => {
  const [a, b] = [await desk.ran(files(['1', 'a'], ['2', 'a'])), await desk.ran(files(['1', 'b'], ['2', 'b']))];
  const { cairn } = (await diffOf(a.runId, b.runId, '&limit=1')).stateDiff;
  expect(cairn.artifacts).toMatchObject({ changed: 2, entries: [{ key: '1' }] });
  expect(cairn.leftOut).toContainEqual({ what: 'artifacts', count: 1 });
});

test('what a fork shares with its source is not compared; what one of them wrote again is compared with it', async () => {
  const source = await desk.ran(files(['both.md', 'one\n'], ['kept.md', 'kept'], ['both.md', 'two\n']));
  const rows = await desk.client(deskKeys.operator).events.all(source.runId);
  const again = rows.find(
    ({ type, payload }: RunEventDoc) =>
      type === 'cairn.artifact.chunk' && (payload as { artifactId: string; version: number }).version === 2,
  );
  const fromSeq = Number(again?.sequence);
  desk.work = files(['both.md', 'one\n'], ['kept.md', 'kept'], ['new.md', 'new\n']);
  const fork = { mode: 'branch', fromSeq } as const;
  const branch = await desk.client(deskKeys.operator).runs.fork(source.runId, fork);
  await desk.client().runs.wait(branch.runId);
  const { cairn } = (await diffOf(source.runId, branch.runId)).stateDiff;
  expect(cairn.sharedUpTo).toBe(fromSeq - 1);
  expect(cairn.artifacts).toMatchObject({ changed: 2, same: 0 });
  expect(cairn.artifacts.entries).toMatchObject([
    {
      key: 'both.md',
      op: 'changed',
      a: { version: 2, versions: 1 },
      b: { version: 1, versions: 0, sha256: expect.any(String) },
      changes: [{ path: 'versions', a: 1, b: 0 }],
      content: {
        hunks: [
          {
            lines: [
              { op: 'removed', text: 'two' },
              { op: 'added', text: 'one' },
            ],
          },
        ],
      },
    },
    { key: 'new.md', op: 'added' },
  ]);
  const other = (await diffOf(branch.runId, source.runId)).stateDiff.cairn.artifacts;
  expect(other.entries.map(({ key, op }) => [key, op])).toEqual([
    ['both.md', 'changed'],
    ['new.md', 'removed'],
  ]);
});

test('of a run that goes on, complete versions are compared', async () => {
  const gate = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  const a = await desk.ran(files(['done.md', 'one\n']));
  desk.work = async (context) => {
    await files(['done.md', 'two\n'])(context);
    await context.file('open.md').write('not yet');
    open.resolve();
    await gate.promise;
    return null;
  };
  const b = await desk.client().runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' } });
  await open.promise;
  const diff = await diffOf(a.runId, b.runId);
  gate.resolve();
  expect(diff.truncated).toBe(true);
  expect(diff.stateDiff.cairn.artifacts.entries.map(({ key }) => key)).toEqual(['done.md']);
});

test('another tenant finds neither run, and artifacts of a purged run are gone with it', async () => {
  const [a, b] = [await desk.ran(files(['x', 'one'])), await desk.ran(files(['x', 'two']))];
  const asked = async (key: string) => {
    const url = `${desk.url}/v1/runs/${a.runId}:diff?against=${b.runId}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    return [response.status, ((await response.json()) as { error?: string }).error];
  };
  expect(await asked(deskKeys.bob)).toEqual([404, 'not_found']);
  expect(await asked(deskKeys.reader)).toEqual([200, undefined]);
  await desk.client(deskKeys.operator).runs.delete(b.runId);
  expect(await asked(deskKeys.ann)).toEqual([410, 'run_purged']);
});
