/**
 * Where compiled code is cached between two commands: half of what a short command takes. Node runs what it finds there,
 * so only this user may write to the folder. The default of Node is a folder in the temporary folder of all users.
 */
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** The private folder of the cache, created if it is missing; null when there is none to trust. Then nothing is cached. */
export function compileCacheFolder(env = process.env, home = homedir()) {
  const above = env.XDG_CACHE_HOME?.startsWith('/') === true ? env.XDG_CACHE_HOME : join(home, '.cache');
  const own = join(above, 'cairn');
  const folder = join(own, 'compiled');
  try {
    makeFolder(folder);
    return isPrivate(own) && isPrivate(folder) ? folder : null;
  } catch {
    return null;
  }
}

/** Not mkdir with `recursive`: Node never returns from it where the parent exists and the system says ENOENT (/proc). */
function makeFolder(folder) {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (!existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another command may have made it meanwhile.
    if (error.code !== 'EEXIST') throw error;
  }
}

/** A link is refused as well: whoever made it decides where it leads. */
function isPrivate(folder) {
  const found = lstatSync(folder);
  if (!found.isDirectory()) return false;
  return process.platform === 'win32' || (found.uid === process.getuid?.() && (found.mode & 0o077) === 0);
}
