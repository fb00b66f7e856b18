/** The cache of compiled code is never in a folder that another user could have filled. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileCacheFolder } from '../../bin/compile-cache.mjs';

function home(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-home-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test('is in the cache folder of the user, for the user alone', () => {
  const own = home();
  const folder = join(own, '.cache', 'cairn', 'compiled');
  expect(compileCacheFolder({}, own)).toBe(folder);
  for (const made of [folder, join(folder, '..')]) expect(statSync(made).mode & 0o777).toBe(0o700);
  expect(compileCacheFolder({}, own)).toBe(folder);
  expect(compileCacheFolder({ XDG_CACHE_HOME: join(own, 'x') }, own)).toBe(join(own, 'x', 'cairn', 'compiled'));
});

test.each(['cairn', 'cairn/compiled'])('is off when others may use %s', (exposed) => {
  const own = home();
  compileCacheFolder({}, own);
  for (const mode of [0o750, 0o702, 0o777]) {
    chmodSync(join(own, '.cache', exposed), mode);
    expect(compileCacheFolder({}, own)).toBeNull();
  }
});

test('is off when the folder is a link, or cannot be made', () => {
  const own = home();
  mkdirSync(join(own, '.cache'));
  symlinkSync(home(), join(own, '.cache', 'cairn'));
  expect(compileCacheFolder({}, own)).toBeNull();
  expect(compileCacheFolder({}, '/proc/nowhere')).toBeNull();
  expect(existsSync('/proc/nowhere')).toBe(false);
});
