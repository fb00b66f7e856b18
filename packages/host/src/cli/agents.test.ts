import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { typed } from './recording-terminal.kit.ts';
import { servedCli } from './served-cli.kit.ts';

async function withPack() {
  const served = await servedCli(inMemoryStore(), { allowUnsignedPacks: true });
  const folder = mkdtempSync(join(tmpdir(), 'cairn-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await typed(['pack', 'init', 'desk', '--name', 'vendor.acme.desk'], { cwd: folder });
  expect(await served.cairn(['pack', 'add', 'desk'], { cwd: folder })).toMatchObject({ code: 0 });
  return served;
}

test('agents lists who there is, and says how to get some when there is nobody', async () => {
  const { cairn } = await servedCli();
  expect(await cairn(['agents'])).toEqual({
    code: 0,
    out: '',
    err: 'There are no agents. Install a pack with: cairn pack add FOLDER',
  });
  const desk = await withPack();
  const [header, only] = (await desk.cairn(['agents'])).out.split('\n');
  expect(header).toMatch(/^AGENT +PERSONA +CLASS +TOOLS +PACK$/);
  expect(only).toMatch(/^vendor\.acme\.desk\.helper +Helper +general +0 +vendor\.acme\.desk 0\.1\.0$/);
  expect(JSON.parse((await desk.cairn(['agents', '--json'])).out).agents).toHaveLength(1);
});

test('agents AGENT shows what it may do; a name that is nearly right is told what would be', async () => {
  const { cairn } = await withPack();
  const { out } = await cairn(['agents', 'vendor.acme.desk.helper']);
  expect(out).toContain('Answers a question in a few sentences.');
  expect(out).toMatch(/tools +none/);
  expect(out).toMatch(/human review +below a confidence of 0\.7/);
  expect(JSON.parse((await cairn(['agents', 'vendor.acme.desk.helper', '--json'])).out).persona).toBe('Helper');
  const unknown = await cairn(['agents', 'helper']);
  expect(unknown).toMatchObject({ code: 3, out: '' });
  expect(unknown.err).toContain('Did you mean vendor.acme.desk.helper?');
});
