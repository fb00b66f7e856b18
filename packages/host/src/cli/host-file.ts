/** The note that `cairn dev` leaves in its data folder while it serves, so that the other commands find it. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface HostNote {
  readonly url: string;
  readonly key: string;
}

const NAME = 'host.json';

/** Only this user can read it, because it holds the key. */
export function writeHostNote(folder: string, note: HostNote): void {
  const file = join(folder, NAME);
  // Made anew: a file that was there keeps its old permissions when it is written over.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' });
}

export const removeHostNote = (folder: string): void => rmSync(join(folder, NAME), { force: true });

/** Null when there is none, or when others could have written it: they would get what is sent to the host. */
export function readHostNote(folder: string): HostNote | null {
  const file = join(folder, NAME);
  try {
    const { uid, mode } = statSync(file);
    const own = process.getuid?.() ?? uid;
    if (uid !== own || (mode & 0o022) !== 0) return null;
    const { url, key } = JSON.parse(readFileSync(file, 'utf8')) as Partial<HostNote>;
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : null;
  } catch {
    return null;
  }
}
