/** Recorded runs, decided again from a data folder or a bundle, without the program that ran them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { servedCli } from './served-cli.kit.ts';

async function place() {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-replay-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'cairn.json'), '{"data":"data"}');
  const served = await servedCli(await openSqliteStore({ folder: join(cwd, 'data') }));
  const cairn = (...args: readonly string[]) => served.cairn(args, { cwd });
  return { cwd, cairn, runId: await served.detached('review') };
}

test('a run in the data folder and its bundle are decided as recorded', async () => {
  const { cairn, runId } = await place();
  const file = String(JSON.parse((await cairn('export', runId, '--json')).out).file);
  const { code, out } = await cairn('replay', runId, file, '--json');
  expect(code).toBe(0);
  const verdicts = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(verdicts).toHaveLength(2);
  for (const verdict of verdicts) expect(verdict).toMatchObject({ ok: true, runId, problem: null, divergence: null });
  expect((await cairn('replay', runId)).out).toMatch(/\d+ events, decided as recorded/);
});

test('the first divergence ends the command with 1, and is shown from both sides', async () => {
  const { cwd, cairn, runId } = await place();
  const db = new DatabaseSync(join(cwd, 'data', 'cairn.db'));
  const found = db.prepare('SELECT hash, body FROM definitions').all();
  for (const { hash, body } of found) {
    const changed = String(body).replace(/"core\.approvalGate"/, '"core.noop"');
    db.prepare('UPDATE definitions SET body = ? WHERE hash = ?').run(changed, String(hash));
  }
  db.close();
  const { code, out } = await cairn('replay', runId, 'nobody-looks-at-this');
  expect(code).toBe(1);
  expect(out).toMatch(/event \d+ differs/);
  expect(out).toMatch(/recorded: node\.started of \w+, cause \d+: .*core\.approvalGate/);
  expect(out).toMatch(/now: {6}node\.started of \w+, cause \d+: .*core\.noop/);
});

test('a name of neither a file nor a run is reported with both', async () => {
  const { cairn } = await place();
  const { code, err } = await cairn('replay', 'run_00000000-0000-7000-8000-000000000000');
  expect(code).toBe(3);
  expect(err).toMatch(/no file .* and no run/);
});
