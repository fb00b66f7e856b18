import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import type { NewRow } from '../ports/rows.ts';
import { row, runA } from '../ports/samples.kit.ts';
import { type BundleRowRead, readBundle } from './bundle.ts';
import { agent, bundleOf, childId, childRows, definition, sampleRows } from './bundle-samples.kit.ts';

const wholly = (lines: Iterable<string>) => [...readBundle(lines).runs].length;

/** The index of the line of event `n` of the first run: after the header, two definitions and the run. */
const at = (n: number): number => 4 + n;

/** The lines with a last one that says what the lines before it come to: what who tampers on purpose would write. */
function resealed(lines: readonly string[]): readonly string[] {
  const before = lines.slice(0, -1);
  const sha256 = hash('sha256', before.map((line) => `${line}\n`).join(''), 'hex');
  const count = (kind: string) => before.filter((line) => line.startsWith(`{"kind":"${kind}"`)).length;
  return [...before, JSON.stringify({ kind: 'end', runs: count('run'), rows: count('row'), sha256 })];
}

const changed = (line: string | undefined, fields: object): string =>
  JSON.stringify({ ...JSON.parse(present(line)), ...fields });

const newRow = ({ at: instant, type, nodeId, cause, audience, payload }: BundleRowRead): NewRow => ({
  at: instant,
  type,
  nodeId: nodeId ?? undefined,
  cause: cause ?? undefined,
  audience,
  payload: present(payload),
  task: null,
});

test('gives back the runs, their definitions and every row', async () => {
  const bundle = readBundle(await bundleOf({ withChild: true }));
  expect(bundle.runId).toBe(runA);
  expect([...bundle.definitions.values()].sort()).toEqual([definition, agent].sort());
  const found = Array.from(bundle.runs, ({ run, rows }) => ({ run, rows: Array.from(rows, newRow) }));
  expect(found).toMatchObject([
    { run: { runId: runA, seq: 2, parentRunId: null, fork: null } },
    { run: { runId: childId, seq: 0, parentRunId: runA } },
  ]);
  const withoutFace = (rows: readonly NewRow[]) => rows.map((one) => ({ ...one, task: null }));
  expect(found.map(({ rows }) => rows)).toEqual([withoutFace(sampleRows), withoutFace(childRows)]);
});

test('the same run gives the same bytes', async () => {
  expect(await bundleOf({ withChild: true })).toEqual(await bundleOf({ withChild: true }));
});

test.each<[string, RegExp, (lines: readonly string[]) => readonly string[]]>([
  ['a missing row', /Line 6 .*event 1 of run run_a.* event 1 is missing/, (lines) => lines.toSpliced(at(1), 1)],
  ['a row twice', /event 1 is where event 2/, (lines) => lines.toSpliced(at(1), 0, present(lines[at(1)]))],
  [
    'rows in another order',
    /event 1 is missing/,
    (lines) => lines.with(at(1), present(lines[at(2)])).with(at(2), present(lines[at(1)])),
  ],
  ['a cut tail', /it is not event 2; the run has 3 events/, (lines) => lines.toSpliced(at(2), 1)],
  [
    'a tail cut with the count',
    /lead to the hash/,
    (lines) => lines.toSpliced(at(2), 1).with(3, changed(lines[3], { seq: 1 })),
  ],
  [
    'a changed payload',
    /event 1 .* does not match its hash/,
    (lines) => lines.with(at(1), changed(lines[at(1)], { payload: '{}' })),
  ],
  ['a changed instant', /not match its hash/, (lines) => lines.with(at(2), changed(lines[at(2)], { at: 1_003 }))],
  [
    'a row for other eyes',
    /not match its hash/,
    (lines) => lines.with(at(1), changed(lines[at(1)], { audience: 'client' })),
  ],
  ['another chain', /does not continue/, (lines) => lines.with(at(1), changed(lines[at(1)], { hash: '0'.repeat(64) }))],
  ['another definition', /has the hash/, (lines) => lines.with(1, changed(lines[1], { body: '{"id":"other"}' }))],
  ['a missing definition', /lacks the definition|no run is pinned/, (lines) => lines.toSpliced(1, 1)],
  [
    'definitions in another order',
    /not sorted/,
    (lines) => lines.with(1, present(lines[2])).with(2, present(lines[1])),
  ],
  [
    'another origin',
    /event 0 does not continue/,
    (lines) => lines.with(3, changed(lines[3], { originRunId: 'run_b' })),
  ],
  [
    'a run id that is a path',
    /not a run id/,
    (lines) => lines.with(3, changed(lines[3], { runId: '../../etc/passwd' })),
  ],
  [
    'another context',
    /started in another context/,
    (lines) => lines.with(3, changed(lines[3], { contextId: 'ctx_b' })),
  ],
  ['another first run', /the first run is run_a/, (lines) => lines.with(0, changed(lines[0], { runId: 'run_b' }))],
  [
    'a run that is not below the first',
    /no run above run run_a.1/,
    (lines) => lines.with(at(3), changed(lines[at(3)], { parentRunId: 'run_x' })),
  ],
  ['a run twice', /twice/, (lines) => [...lines.slice(0, -1), ...lines.slice(at(3), -1), present(lines.at(-1))]],
  [
    'a field that bundles do not have',
    /Unrecognized key/,
    (lines) => lines.with(at(1), changed(lines[at(1)], { note: 'x' })),
  ],
])('refuses %s, also when the last line was made to fit', async (_, message, tamper) => {
  const tampered = resealed(tamper(await bundleOf({ withChild: true })));
  expect(() => wholly(tampered)).toThrow(message);
});

test.each<[string, RegExp, (lines: readonly string[]) => readonly string[]]>([
  ['an empty file', /Line 1 .* breaks off/, () => []],
  ['a file of another kind', /not the first line of a bundle/, () => ['{"name":"cairn"}']],
  ['a file that is not JSON', /Line 1 .* not JSON/, () => ['MZ']],
  ['a later version', /version 3; this program reads version 2/, ([line]) => [changed(line, { version: 3 })]],
  ['the first version', /version 1; this program reads version 2; export/, ([line]) => [changed(line, { version: 1 })]],
  ['a line written otherwise', /Line 5 .*not written as/, (lines) => lines.with(at(0), ` ${lines[at(0)]}`)],
  ['a file without its end', /Line 8 .* breaks off/, (lines) => lines.slice(0, -1)],
  ['a file that goes on', /Line 9 .* follows the end/, (lines) => [...lines, '{}']],
  ['an end written otherwise', /not written as/, (lines) => lines.with(-1, ` ${lines.at(-1)}`)],
  ['a wrong count', /says that it has 9 rows/, (lines) => lines.with(-1, changed(lines.at(-1), { rows: 9 }))],
])('refuses %s', async (_, message, damage) => {
  const lines = damage(await bundleOf());
  expect(() => wholly(lines)).toThrow(message);
});

test('a retired payload leaves the chain whole, and any other byte of its row counts', async () => {
  const lines = await bundleOf();
  const retired = lines.with(at(1), changed(lines[at(1)], { payload: null }));
  expect(wholly(resealed(retired))).toBe(1);
  const moved = retired.with(at(1), changed(retired[at(1)], { rowHash: '0'.repeat(64) }));
  expect(() => wholly(resealed(moved))).toThrow(/event 1 does not continue/);
});

test.each<[string, RegExp, readonly NewRow[]]>([
  ['does not begin with run.started', /first event is run.completed/, [present(sampleRows[2])]],
  ['goes on after its end', /follows the event that ended/, [present(sampleRows[0]), present(sampleRows[2])]],
  [
    'holds a payload of another shape',
    /payload of event 1 \(node.started\) is wrong/,
    [present(sampleRows[0]), row('node.started', { payload: 'null' })],
  ],
  ['holds a payload that is not JSON', /not JSON/, [present(sampleRows[0]), row('log.appended', { payload: '{' })]],
])('refuses a run that %s, although its hashes are right', async (_, message, rows) => {
  // The store itself refuses rows after the end, so that bundle is put together from two.
  const whole =
    rows.at(-1)?.type === 'run.completed' && rows.length === 2 ? await endedTwice() : await bundleOf({ rows });
  expect(() => wholly(whole)).toThrow(message);
});

/** A bundle whose chain is right and goes on after `run.completed`. */
async function endedTwice(): Promise<readonly string[]> {
  const { chainHash, rowHash } = await import('../chain.ts');
  const lines = await bundleOf({ rows: [present(sampleRows[0]), present(sampleRows[2])] });
  const last = JSON.parse(present(lines[at(1)]));
  const again = { ...last, seq: 2 };
  again.rowHash = rowHash(again);
  again.hash = chainHash(last.hash, again.rowHash);
  const run = changed(lines[3], { seq: 2, hash: again.hash });
  return resealed([...lines.slice(0, 3), run, ...lines.slice(4, 6), JSON.stringify(again), '{}']);
}

const piece = (text: string, index: number): NewRow =>
  row('cairn.artifact.chunk', {
    payload: JSON.stringify({
      artifactId: 'report.md',
      version: 1,
      index,
      complete: index > 0,
      blob: { sha256: hash('sha256', text, 'hex'), bytes: text.length },
    }),
  });

const withBlobs = () =>
  bundleOf({
    rows: [present(sampleRows[0]), piece('one', 0), piece('two', 1)],
    blobs: ['one', 'two'],
  });

test('gives back the blobs that events name, one at a time', async () => {
  const bundle = readBundle(await withBlobs());
  const found = Array.from(bundle.blobs, ({ bytes }) => Buffer.from(bytes).toString());
  expect(found.sort()).toEqual(['one', 'two']);
  expect([...bundle.runs]).toHaveLength(1);
  expect(wholly(await withBlobs())).toBe(1);
});

/** The blobs stand behind the header and the two definitions. */
test.each<[string, RegExp, (lines: readonly string[]) => readonly string[]]>([
  ['a missing blob', /lacks the blob .* which event \d names/, (lines) => lines.toSpliced(3, 1)],
  ['changed bytes', /the blob has the hash/, (lines) => lines.with(3, changed(lines[3], { data: 'b3RoZXI=' }))],
  [
    'bytes written otherwise',
    /not written as bundles write it/,
    (lines) => lines.with(3, changed(lines[3], { data: `${JSON.parse(present(lines[3])).data}=` })),
  ],
  ['a blob twice', /not sorted/, (lines) => lines.toSpliced(3, 0, present(lines[3]))],
  ['blobs behind their run', /it is not event 0/, (lines) => lines.toSpliced(6, 0, present(lines[3]))],
  [
    'a blob that no event names',
    /no event names the blob/,
    (lines) => {
      const sha256 = hash('sha256', 'x', 'hex');
      const more = [...lines.slice(3, 5), JSON.stringify({ kind: 'blob', sha256, data: 'eA==' })];
      more.sort((a, b) => (JSON.parse(a).sha256 < JSON.parse(b).sha256 ? -1 : 1));
      return [...lines.slice(0, 3), ...more, ...lines.slice(5)];
    },
  ],
])('refuses %s in a bundle with artifacts', async (_, message, tamper) => {
  const tampered = resealed(tamper(await withBlobs()));
  expect(() => wholly(tampered)).toThrow(message);
});
