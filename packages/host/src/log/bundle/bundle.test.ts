import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import type { NewRow } from '../ports/rows.ts';
import { row, runA } from '../ports/samples.kit.ts';
import { readBundle } from './bundle.ts';
import { bundleOf, definition, sampleRows } from './bundle-samples.kit.ts';

const wholly = (lines: Iterable<string>) => [...readBundle(lines).rows];

/** The lines with a last one that says what the lines before it come to: what who tampers on purpose would write. */
function resealed(lines: readonly string[]): readonly string[] {
  const before = lines.slice(0, -1);
  const sha256 = hash('sha256', before.map((line) => `${line}\n`).join(''), 'hex');
  return [...before, JSON.stringify({ kind: 'end', rows: before.length - 2, sha256 })];
}

const changed = (line: string, fields: object): string => JSON.stringify({ ...JSON.parse(line), ...fields });

test('gives back the run, its definition and every row', async () => {
  const bundle = readBundle(await bundleOf());
  expect(bundle.run).toMatchObject({ runId: runA, seq: 2, parentRunId: null });
  expect(bundle.definition).toBe(definition);
  expect(bundle.exportedAt).toBe('1970-01-01T00:00:05.000Z');
  expect([...bundle.rows]).toEqual(sampleRows);
});

test.each<[string, RegExp, (lines: readonly string[]) => readonly string[]]>([
  ['a missing row', /Line 4 .* event 2 where event 1 belongs/, (lines) => lines.toSpliced(3, 1)],
  ['a row twice', /event 1 where event 2 belongs/, (lines) => lines.toSpliced(3, 0, present(lines[3]))],
  [
    'rows in another order',
    /event 2 where event 1/,
    (lines) => lines.with(3, present(lines[4])).with(4, present(lines[3])),
  ],
  ['a cut tail', /lead to the hash/, (lines) => lines.toSpliced(4, 1)],
  [
    'a changed payload',
    /event 1 .* not what its hash says/,
    (lines) => lines.with(3, changed(present(lines[3]), { payload: '{}' })),
  ],
  ['a changed instant', /not what its hash says/, (lines) => lines.with(4, changed(present(lines[4]), { at: 1_003 }))],
  [
    'a row for other eyes',
    /not what its hash says/,
    (lines) => lines.with(3, changed(present(lines[3]), { audience: 'client' })),
  ],
  ['another chain', /does not follow/, (lines) => lines.with(3, changed(present(lines[3]), { hash: '0'.repeat(64) }))],
  ['another definition', /pinned to/, (lines) => lines.with(1, changed(present(lines[1]), { body: '{"id":"other"}' }))],
  ['no definition', /Line 2 /, (lines) => lines.toSpliced(1, 1)],
  [
    'another origin',
    /does not follow/,
    (lines) => lines.with(0, otherRun(present(lines[0]), { originRunId: 'run_b' })),
  ],
  [
    'another context',
    /started in another context/,
    (lines) => lines.with(0, otherRun(present(lines[0]), { contextId: 'ctx_b' })),
  ],
  [
    'a run id that is a path',
    /no run id/,
    (lines) => lines.with(0, otherRun(present(lines[0]), { runId: '../../etc/passwd' })),
  ],
  [
    'a field that bundles do not have',
    /Unrecognized key/,
    (lines) => lines.with(3, changed(present(lines[3]), { note: 'x' })),
  ],
])('refuses %s, also when the last line was made to fit', async (_, message, tamper) => {
  const tampered = resealed(tamper(await bundleOf()));
  expect(() => wholly(tampered)).toThrow(message);
});

const otherRun = (line: string, fields: object): string =>
  changed(line, { run: { ...JSON.parse(line).run, ...fields } });

test.each<[string, RegExp, (lines: readonly string[]) => readonly string[]]>([
  ['an empty file', /Line 1 .* breaks off/, () => []],
  ['a file of another kind', /not the first line of a bundle/, () => ['{"name":"cairn"}']],
  ['a file that is not JSON', /Line 1 .* not JSON/, () => ['MZ']],
  ['a later version', /version 3; this program reads version 2/, ([line = '']) => [changed(line, { version: 3 })]],
  [
    'a changed header',
    /sha256/,
    (lines) => lines.with(0, changed(present(lines[0]), { exportedAt: '2026-01-01T00:00:00.000Z' })),
  ],
  ['a file without its end', /Line 6 .* breaks off/, (lines) => lines.slice(0, -1)],
  ['a file that goes on', /Line 7 .* follows the end/, (lines) => [...lines, '{}']],
  ['an end written otherwise', /not written as/, (lines) => lines.with(-1, ` ${lines.at(-1)}`)],
  ['a wrong count', /says that it has 9 rows/, (lines) => lines.with(-1, changed(present(lines.at(-1)), { rows: 9 }))],
])('refuses %s', async (_, message, damage) => {
  const lines = damage(await bundleOf());
  expect(() => wholly(lines)).toThrow(message);
});

test.each<[string, RegExp, readonly NewRow[]]>([
  ['does not begin with run.started', /first event is run.completed/, [present(sampleRows[2])]],
  ['goes on after its end', /follows the event that ended/, [present(sampleRows[0]), present(sampleRows[2])]],
  [
    'holds a payload of another shape',
    /payload|nodeId/,
    [present(sampleRows[0]), row('node.started', { payload: 'null' })],
  ],
  ['holds a payload that is not JSON', /not JSON/, [present(sampleRows[0]), row('log.appended', { payload: '{' })]],
])('refuses a run that %s, although its hashes are right', async (_, message, rows) => {
  // The store itself refuses rows after the end, so that bundle is put together from two.
  const whole = rows.at(-1)?.type === 'run.completed' && rows.length === 2 ? await endedTwice() : await bundleOf(rows);
  expect(() => wholly(whole)).toThrow(message);
});

/** A bundle whose chain is right and goes on after `run.completed`. */
async function endedTwice(): Promise<readonly string[]> {
  const { chainHash, chainStart, rowHash } = await import('../chain.ts');
  const lines = await bundleOf([present(sampleRows[0]), present(sampleRows[2])]);
  const last = JSON.parse(present(lines[3]));
  const again = { ...last, seq: 2 };
  again.rowHash = rowHash(again);
  const first = JSON.parse(present(lines[2]));
  again.hash = chainHash(chainHash(chainHash(chainStart(runA), first.rowHash), last.rowHash), again.rowHash);
  const header = otherRun(present(lines[0]), { seq: 2, hash: again.hash });
  return resealed([header, present(lines[1]), present(lines[2]), present(lines[3]), JSON.stringify(again), '{}']);
}
