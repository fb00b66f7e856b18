/**
 * Where compiled code is cached between two commands: half of what a short command takes. Node runs what it finds there,
 * so only this user may write to the folder. The default of Node is a folder in the temporary folder of all users.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The private folder of the cache, created if it is missing; null when there is none to trust. Then nothing is cached. */
export function compileCacheFolder(env = process.env, home = homedir()) {
  const above = env.XDG_CACHE_HOME?.startsWith('/') === true ? env.XDG_CACHE_HOME : join(home, '.cache');
  const own = join(above, 'cairn');
  const folder = join(own, 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return isPrivate(own) && isPrivate(folder) ? folder : null;
  } catch {
    return null;
  }
}

/** A link is refused as well: whoever made it decides where it leads. */
function isPrivate(folder) {
  const found = lstatSync(folder);
  if (!found.isDirectory()) return false;
  return process.platform === 'win32' || (found.uid === process.getuid?.() && (found.mode & 0o077) === 0);
}
