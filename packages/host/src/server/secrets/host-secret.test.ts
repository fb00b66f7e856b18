import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostSecret } from './host-secret.ts';
import { seal, sealerOf, unseal } from './sealed.ts';
import { SecretText } from './secret-text.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-secret-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const masterKey = () => new SecretText(randomBytes(32).toString('base64url'));

test('a host without a master key makes a secret in its data folder, for its owner only, and keeps it', () => {
  const data = join(folder(), 'new', 'data');
  const first = hostSecret({ folder: data })('a');
  expect(statSync(join(data, 'host.key')).mode & 0o777).toBe(0o600);
  expect(hostSecret({ folder: data })('a')).toEqual(first);
});

test('each purpose has a key of its own, and none of them is the secret', () => {
  const data = folder();
  const derive = hostSecret({ folder: data });
  const [a, b] = [derive('a')[0]?.toString('base64url'), derive('b')[0]?.toString('base64url')];
  expect(a).not.toBe(b);
  expect(readFileSync(join(data, 'host.key'), 'utf8')).not.toContain(a);
  expect(derive('a')[0]).toHaveLength(32);
});

test('the master key comes first, then the one before it, then the folder’s; nothing is written', () => {
  const data = folder();
  const [own] = hostSecret({ folder: data })('a');
  const [current, previous] = [masterKey(), masterKey()];
  const keys = hostSecret({ masterKey: { current, previous }, folder: data })('a');
  expect(keys).toHaveLength(3);
  expect(keys[0]).toEqual(hostSecret({ masterKey: { current }, folder: null })('a')[0]);
  expect(keys[1]).toEqual(hostSecret({ masterKey: { current: previous }, folder: null })('a')[0]);
  expect(keys[2]).toEqual(own);
  const untouched = folder();
  hostSecret({ masterKey: { current }, folder: untouched });
  expect(existsSync(join(untouched, 'host.key'))).toBe(false);
});

test('a host that keeps nothing has a secret of its own each time', () => {
  expect(hostSecret({ folder: null })('a')).not.toEqual(hostSecret({ folder: null })('a'));
});

test('a key that others can read, or that is none, is refused by name', () => {
  const data = folder();
  hostSecret({ folder: data });
  const file = join(data, 'host.key');
  chmodSync(file, 0o644);
  const refused = (message: string) =>
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) });
  expect(() => hostSecret({ folder: data })).toThrow(refused('mode 0644'));
  chmodSync(file, 0o600);
  writeFileSync(file, 'short');
  expect(() => hostSecret({ folder: data })).toThrow(refused('32 bytes'));
});

test('a key that cannot be read is refused by name, and nothing is put in its place', () => {
  const refused = (message: string) =>
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) });
  const dangling = folder();
  symlinkSync('nowhere', join(dangling, 'host.key'));
  expect(() => hostSecret({ folder: dangling })).toThrow(refused('host.key is a link to a file that is not there'));
  expect(existsSync(join(dangling, 'nowhere'))).toBe(false);
  const round = folder();
  symlinkSync('host.key', join(round, 'host.key'));
  expect(() => hostSecret({ folder: round })).toThrow(refused('host.key cannot be read: ELOOP'));
  const nested = folder();
  mkdirSync(join(nested, 'host.key'), { mode: 0o700 });
  expect(() => hostSecret({ folder: nested })).toThrow(refused('host.key cannot be read: EISDIR'));
});

test('a key may lie elsewhere, behind a link', () => {
  const [kept, data] = [folder(), folder()];
  const [key] = hostSecret({ folder: kept })('a');
  symlinkSync(join(kept, 'host.key'), join(data, 'host.key'));
  expect(hostSecret({ folder: data })('a')[0]).toEqual(key);
});

test('what is sealed opens with its key, also when that is not the first any more, and only where it belongs', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const sealed = seal([key], 'wh_1', 'the secret é');
  expect(unseal([key], 'wh_1', sealed)).toBe('the secret é');
  expect(unseal([other, key], 'wh_1', sealed)).toBe('the secret é');
  const closed = expect.objectContaining({ code: 'internal_error' });
  expect(() => unseal([other], 'wh_1', sealed)).toThrow(closed);
  expect(() => unseal([key], 'wh_2', sealed)).toThrow(closed);
  expect(() => unseal([key], 'wh_1', `${sealed.slice(0, -2)}AA`)).toThrow(closed);
  expect(() => unseal([key], 'wh_1', '')).toThrow(closed);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret');
  expect(seal([key], 'wh_1', 'x')).not.toBe(seal([key], 'wh_1', 'x'));
  const both = sealerOf([key], 'o');
  expect(both.open(both.seal('x'))).toBe('x');
});
