import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { typed } from './recording-terminal.kit.ts';
import { readerKey, servedCli } from './served-cli.kit.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cairn-pack-'));
  return () => rmSync(cwd, { recursive: true, force: true });
});

const pack = (...args: readonly string[]) => typed(['pack', ...args], { cwd });
const file = (...path: readonly string[]) => join(cwd, ...path);

test('init makes a pack that is right, named after its folders, and never writes over one', async () => {
  expect(await pack('init', 'desk', '--name', 'vendor.acme.desk')).toMatchObject({ code: 0 });
  const lint = await pack('lint', 'desk');
  expect(lint.code).toBe(0);
  expect(lint.out).toContain('vendor.acme.desk 0.1.0: no problems found');
  expect(lint.out).toContain('vendor.acme.desk.helper');
  const again = await pack('init', 'desk');
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('already exists')]);
  const other = await pack('init', 'Écrans 2', '--json');
  expect(JSON.parse(other.out).name).toMatch(/^local\.[a-z][a-z0-9_-]*\.crans-2$/);
  expect(await pack('init', 'bad', '--name', 'nothing')).toMatchObject({ code: 4 });
  expect(existsSync(file('bad'))).toBe(false);
});

test('lint tells what is wrong as a host would', async () => {
  await pack('init', 'desk', '--name', 'vendor.acme.desk');
  rmSync(file('desk', 'prompts', 'helper.md'));
  const { code, err } = await pack('lint', 'desk');
  expect(code).toBe(4);
  expect(err).toContain(
    'systemPromptRef of vendor.acme.desk.helper names "prompts/helper.md", which is not in the pack',
  );
  const json = await pack('lint', 'desk', '--json');
  expect(JSON.parse(json.err)).toMatchObject({ error: 'tarball_entry_missing' });
  expect(await pack('lint', 'nothing')).toMatchObject({ code: 3 });
});

test('a folder with a link is no pack, wherever the link leads', async () => {
  await pack('init', 'desk');
  symlinkSync('/etc/hostname', file('desk', 'prompts', 'link.md'));
  expect(await pack('lint', 'desk')).toMatchObject({ code: 4, err: expect.stringContaining('a pack has no links') });
});

test('sign makes a key once, for its owner alone, and verify counts only keys it is told of', async () => {
  await pack('init', 'desk');
  const sign = ['sign', 'desk', '--key', 'acme.pem', '--key-id', 'acme-2026'];
  expect(await pack(...sign)).toMatchObject({ code: 2, err: expect.stringContaining('cannot be read') });
  const { code, out } = await pack(...sign, '--new-key', '--json');
  expect([code, statSync(file('acme.pem')).mode & 0o777]).toEqual([0, 0o600]);
  expect(await pack(...sign, '--new-key')).toMatchObject({
    code: 2,
    err: expect.stringContaining('cannot be written'),
  });
  const { publicKey }: { publicKey: string } = JSON.parse(out);
  const trust = ['--trust', `acme-2026=${publicKey}`];
  expect(await pack('verify', 'desk', ...trust)).toMatchObject({
    code: 0,
    out: expect.stringContaining('signed by acme-2026'),
  });
  expect(await pack('verify', 'desk')).toMatchObject({ code: 1, out: expect.stringContaining('does not count') });
  expect(await pack('verify', 'desk', '--trust', 'acme')).toMatchObject({ code: 2 });
  writeFileSync(file('cairn.json'), JSON.stringify({ packs: { trust: [{ keyId: 'acme-2026', publicKey }] } }));
  expect(await pack('verify', 'desk')).toMatchObject({ code: 0 });
  writeFileSync(file('desk', 'prompts', 'helper.md'), 'Obey.');
  const changed = await pack('verify', 'desk', ...trust, '--json');
  expect([changed.code, JSON.parse(changed.out)]).toEqual([
    1,
    expect.objectContaining({ ok: false, problem: expect.stringContaining('"prompts/helper.md" was changed') }),
  ]);
});

test('what cannot be signed or trusted is told, and never quoted', async () => {
  const sign = (name: string) => pack('sign', name, '--key', 'k.pem', '--key-id', 'k', '--new-key');
  expect(await sign('nothing')).toMatchObject({ code: 3 });
  await pack('init', 'desk');
  writeFileSync(file('k.pem'), 'not a key');
  const wrong = await pack('sign', 'desk', '--key', 'k.pem', '--key-id', 'k');
  expect([wrong.code, wrong.err]).toEqual([2, expect.not.stringContaining('not a key\n')]);
  writeFileSync(file('cairn.json'), '{"keys":["secret-words"');
  const unreadable = await pack('verify', 'desk');
  expect([unreadable.code, unreadable.err]).toEqual([2, expect.not.stringContaining('secret-words')]);
  writeFileSync(file('cairn.json'), '{"packs":{"trust":[null]}}');
  expect(await pack('verify', 'desk')).toMatchObject({ code: 2, err: expect.stringContaining('is not a valid key') });
  writeFileSync(file('cairn.json'), 'null');
  expect(await pack('verify', 'desk')).toMatchObject({ code: 1 });
});

test('a pack that was signed again after a change is right again', async () => {
  await pack('init', 'desk');
  const sign = ['sign', 'desk', '--key', 'acme.pem', '--key-id', 'a', '--json'];
  const { publicKey }: { publicKey: string } = JSON.parse((await pack(...sign, '--new-key')).out);
  writeFileSync(file('desk', 'prompts', 'helper.md'), 'Other words.');
  await pack(...sign);
  expect(await pack('verify', 'desk', '--trust', `a=${publicKey}`)).toMatchObject({ code: 0 });
  expect(readdirSync(file('desk')).sort()).toContain('pack.files.json.sig');
});

async function host() {
  const { cairn } = await servedCli(undefined, { allowUnsignedPacks: true });
  return (...args: readonly string[]) => cairn(['pack', ...args], { cwd });
}

test('add, list and remove act on the host', async () => {
  const on = await host();
  expect(await on('list')).toMatchObject({ code: 0, out: '', err: expect.stringContaining('No pack is installed') });
  await pack('init', 'desk', '--name', 'vendor.acme.desk');
  const added = await on('add', 'desk');
  expect([added.code, added.out]).toEqual([
    0,
    '✓ vendor.acme.desk 0.1.0 is installed, unsigned\n  vendor.acme.desk.helper',
  ]);
  expect((await on('list')).out).toMatch(/vendor\.acme\.desk {2}0\.1\.0 {4}tenant {2}- {10}1 /);
  expect(JSON.parse((await on('list', '--json')).out).packs).toHaveLength(1);
  expect(await on('remove', 'vendor.acme.desk')).toMatchObject({ code: 0, out: 'vendor.acme.desk is removed' });
  expect(await on('remove', 'vendor.acme.desk')).toMatchObject({ code: 3 });
});

test('what a host refuses is told in its words', async () => {
  const { cairn } = await servedCli();
  await pack('init', 'desk');
  const unsigned = await cairn(['pack', 'add', 'desk'], { cwd });
  expect([unsigned.code, unsigned.err]).toEqual([4, expect.stringContaining('It is not signed')]);
  const reader = await cairn(['pack', 'add', 'desk'], { cwd, env: { CAIRN_KEY: readerKey } });
  expect([reader.code, reader.err]).toEqual([4, expect.stringContaining('packs:publish')]);
});

test('an archive is added as it is, and one that is none is refused before it is sent', async () => {
  const on = await host();
  mkdirSync(file('x'));
  writeFileSync(file('x', 'wrong.tgz'), 'not gzip');
  expect(await on('add', 'x/wrong.tgz')).toMatchObject({ code: 4, err: expect.stringContaining('not a whole gzip') });
  await pack('init', 'desk', '--name', 'vendor.acme.desk');
  const { makeTarball } = await import('../agents/packs/tarball.ts');
  const { readPackFolder } = await import('../agents/packs/folder.ts');
  writeFileSync(file('desk.tgz'), makeTarball(await readPackFolder(file('desk'))));
  expect(await on('add', 'desk.tgz')).toMatchObject({ code: 0 });
  expect(readFileSync(file('desk', 'pack.json'), 'utf8')).toContain('vendor.acme.desk');
});

test('pack without a verb shows what there is', async () => {
  const { code, err } = await pack();
  expect(code).toBe(2);
  for (const verb of ['init', 'lint', 'sign', 'verify', 'add', 'list', 'remove']) expect(err).toContain(verb);
});
