import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findHost, type HostFlags } from './find-host.ts';
import { readHostNote, removeHostNote, writeHostNote } from './host-file.ts';
import type { Terminal } from './terminal.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cairn-find-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const find = (cwd: string, flags: HostFlags = {}, env: Terminal['env'] = {}) => findHost({ cwd, env }, flags);

const note = { url: 'http://127.0.0.1:9', key: 'the-key-of-dev' };

function withNote(): string {
  const cwd = folder();
  mkdirSync(join(cwd, '.cairn'));
  writeHostNote(join(cwd, '.cairn'), note);
  return cwd;
}

test('what is said wins over the environment, and the environment over what is found', () => {
  const cwd = withNote();
  const env = { CAIRN_URL: 'http://env:1', CAIRN_KEY: 'env-key' };
  expect(find(cwd, { url: 'http://flag:1', key: 'flag-key' }, env)).toMatchObject({
    url: 'http://flag:1',
    key: 'flag-key',
  });
  expect(find(cwd, {}, env)).toEqual({ url: 'http://env:1', key: 'env-key', source: 'CAIRN_URL' });
  expect(find(cwd, { url: 'http://flag:1' }, env).key).toBe('env-key');
});

test('the host of this folder or of one above it is found, with its own key', () => {
  const cwd = withNote();
  const below = join(cwd, 'a', 'b');
  mkdirSync(below, { recursive: true });
  expect(find(below)).toEqual({ ...note, source: join(cwd, '.cairn', 'host.json') });
  // A key for some other host is not sent to this one.
  expect(find(below, {}, { CAIRN_KEY: 'a-key-of-production' }).key).toBe(note.key);
  expect(find(below, { key: 'said' }).key).toBe('said');
});

test('a person of the host acts with their own key', () => {
  const cwd = folder();
  mkdirSync(join(cwd, '.cairn'));
  writeHostNote(join(cwd, '.cairn'), { ...note, people: { ada: 'the-key-of-ada' } });
  expect(find(cwd, { as: 'ada' }).key).toBe('the-key-of-ada');
  expect(() => find(cwd, { as: 'ben' })).toThrow('There is no person "ben" on this host; there are ada.');
  expect(() => find(cwd, { as: 'ada', key: 'said' })).toThrow('--as and --key both say who you are.');
  expect(() => find(withNote(), { as: 'toString' })).toThrow('There is no person "toString" on this host.');
});

test('a person is known to a host that runs here only', () => {
  const env = { CAIRN_URL: 'http://env:1', CAIRN_KEY: 'env-key' };
  expect(() => find(withNote(), { as: 'ada' }, env)).toThrow('--as names a person of "cairn dev"');
});

test('a key that was found in a file is not sent to an address that was named', () => {
  const cwd = withNote();
  expect(() => find(cwd, { url: 'http://elsewhere:1' })).toThrow(/There is no key for the host http:\/\/elsewhere:1/);
});

test('a note that others could have written is left alone, and so is one that is torn', () => {
  const cwd = withNote();
  const file = join(cwd, '.cairn', 'host.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o666);
  expect(readHostNote(join(cwd, '.cairn'))).toBeNull();
  chmodSync(file, 0o600);
  expect(readHostNote(join(cwd, '.cairn'))).toEqual({ ...note, people: {} });
  writeFileSync(file, '{"url":');
  expect(readHostNote(join(cwd, '.cairn'))).toBeNull();
  removeHostNote(join(cwd, '.cairn'));
  removeHostNote(join(cwd, '.cairn'));
});

test.each<[string, object, Record<string, string>, object]>([
  [
    'the defaults',
    { keys: [{ key: 'the-key-itself-0001' }] },
    {},
    { url: 'http://127.0.0.1:4700', key: 'the-key-itself-0001' },
  ],
  [
    'a variable for the key',
    { port: 8080, keys: [{ keyEnv: 'K' }] },
    { K: 'from-env' },
    { url: 'http://127.0.0.1:8080', key: 'from-env' },
  ],
  ['an address for all', { bind: '::', keys: [{ key: 'k' }] }, {}, { url: 'http://[::1]:4700' }],
  [
    'a public address',
    { publicUrl: 'https://cairn.example', keys: [{ key: 'k' }] },
    {},
    { url: 'https://cairn.example' },
  ],
  ['a port of the environment', { keys: [{ key: 'k' }] }, { CAIRN_PORT: '5' }, { url: 'http://127.0.0.1:5' }],
  ['only hashes, and CAIRN_KEY', { keys: [{ sha256: 'x' }] }, { CAIRN_KEY: 'env-key' }, { key: 'env-key' }],
])('cairn.json with %s says where the host is', (_name, config, env, found) => {
  const cwd = folder();
  writeFileSync(join(cwd, 'cairn.json'), JSON.stringify(config));
  expect(find(cwd, {}, env)).toMatchObject({ ...found, source: join(cwd, 'cairn.json') });
});

test.each([
  ['nothing to be found', null, /No host found/],
  ['only hashes of keys', '{"keys":[{"sha256":"x"}]}', /There is no key for the host of/],
  ['any free port', '{"port":0,"keys":[{"key":"k"}]}', /any free port/],
  ['a broken file', '{"keys":[{"key":"secret-value"', /cannot be read/],
])('refuses %s, naming the next step and no key', (_name, config, message) => {
  const cwd = folder();
  if (config !== null) writeFileSync(join(cwd, 'cairn.json'), config);
  expect(() => find(cwd)).toThrow(message);
  expect(() => find(cwd)).not.toThrow(/secret-value/);
});

test.each<[string, object, Record<string, string>]>([
  ['CAIRN_KEY', { publicUrl: 'https://evil.example', keys: [{ sha256: 'x' }] }, { CAIRN_KEY: 'mine' }],
  ['any variable', { publicUrl: 'https://evil.example', keys: [{ keyEnv: 'CLOUD_TOKEN' }] }, { CLOUD_TOKEN: 'mine' }],
  ['a variable', { bind: '203.0.113.9', keys: [{ keyEnv: 'K' }] }, { K: 'mine' }],
  ['a variable', { publicUrl: 'https://localhost.evil.example', keys: [{ keyEnv: 'K' }] }, { K: 'mine' }],
])('a file does not get %s sent to another machine', (_name, config, env) => {
  const cwd = folder();
  writeFileSync(join(cwd, 'cairn.json'), JSON.stringify(config));
  expect(() => find(cwd, {}, env)).toThrow(/a key from the environment/);
  expect(() => find(cwd, {}, env)).not.toThrow(/mine/);
  expect(find(cwd, { key: 'said' }, env).key).toBe('said');
});

test.each(['localhost:4700', 'ftp://x', 'http://', 'x'])('refuses the address %s', (url) => {
  expect(() => find('/', { url, key: 'k' })).toThrow(/is not the address of a host/);
});
