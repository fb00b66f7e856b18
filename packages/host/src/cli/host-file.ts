/** The file that `cairn dev` writes to its data folder while it runs, so that other commands find the host. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf } from './render/fields.ts';

export interface HostNote {
  /** The process, for people who want to stop it. */
  readonly pid?: number;
  readonly url: string;
  readonly key: string;
  /** Further keys, by the person that each stands for. */
  readonly people?: Readonly<Record<string, string>>;
}

const NAME = 'host.json';

/** Only this user can read the file, because it contains the key. */
export function writeHostNote(folder: string, note: HostNote): void {
  const file = join(folder, NAME);
  // Created again, because overwriting a file keeps its old permissions.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' });
}

export const removeHostNote = (folder: string): void => rmSync(join(folder, NAME), { force: true });

/** Null if there is no file, or if other users could have written it: they would receive the requests and the key. */
export function readHostNote(folder: string): HostNote | null {
  const file = join(folder, NAME);
  try {
    const { uid, mode } = statSync(file);
    const own = process.getuid?.() ?? uid;
    // Windows has no such modes: Node shows each file there as writable by all.
    const isOpen = process.platform !== 'win32' && (mode & 0o022) !== 0;
    if (uid !== own || isOpen) return null;
    const { url, key, people } = fieldsOf(JSON.parse(readFileSync(file, 'utf8')));
    return typeof url === 'string' && typeof key === 'string' ? { url, key, people: textsOf(people) } : null;
  } catch {
    return null;
  }
}

const textsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text] as const] : [],
    ),
  );
