/** The files of a pack in memory, with limits on names and sizes. The host never writes them to disk. */
import { quoted, TerminalError } from '@cairn/protocol';

/** Keyed by path inside the pack, sorted by path. */
export type PackFiles = ReadonlyMap<string, Buffer>;

export const MANIFEST = 'pack.json';
export const FILE_LIST = 'pack.files.json';
export const SIGNATURE = 'pack.files.json.sig';

export const packLimits = {
  tarballBytes: 50 * 1024 * 1024,
  manifestBytes: 256 * 1024,
  entryBytes: 5 * 1024 * 1024,
  /** All files together, including the overhead of the archive. */
  unpackedBytes: 64 * 1024 * 1024,
  entries: 1000,
  pathLength: 255,
} as const;

/** `__proto__` is a valid file name, but unsafe as a key of an object. */
const notNames: ReadonlySet<string> = new Set(['', '.', '..', '__proto__']);

/** Returns the normalized path. Rejects a path that could lead outside the pack wherever it is written. */
export function packPath(text: string, where: string): string {
  const path = text.replace(/^(\.\/)+/, '').replace(/\/$/, '');
  const segments = path.split('/');
  const isPlain = segments.every((segment) => !notNames.has(segment));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  const isOdd = /[\\\u0000-\u001f\u007f]|^[A-Za-z]:/.test(path) || !path.isWellFormed();
  if (isPlain && !isOdd && path.length <= packLimits.pathLength) return path;
  throw new TerminalError('tarball_path_traversal', {
    message: `${where} names ${quoted(text, 120)}, which is not a path inside a pack.`,
    hint: 'Use a relative path of plain names with "/" between them, without "..".',
    details: { path: text.slice(0, 300) },
  });
}

/** Collects files within the limits. */
export class FileCollector {
  readonly #files = new Map<string, Buffer>();
  #bytes = 0;
  #entries = 0;

  /** Counts an entry of any kind: folders cost time too. */
  count(): void {
    this.#entries += 1;
    if (this.#entries > packLimits.entries) throw tooLarge(`more than ${packLimits.entries} files and folders`);
  }

  /** Checks the limits before the content is read. */
  expect(path: string, bytes: number): void {
    this.count();
    if (path === MANIFEST && bytes > packLimits.manifestBytes) {
      throw new TerminalError('tarball_manifest_too_large', {
        message: `${MANIFEST} has ${bytes} bytes; at most ${packLimits.manifestBytes} are read.`,
        hint: 'Move long prompts into files of their own and name them with systemPromptRef.',
      });
    }
    if (bytes > packLimits.entryBytes) {
      throw new TerminalError('tarball_entry_too_large', {
        message: `${quoted(path, 120)} has ${bytes} bytes; a file of a pack has at most ${packLimits.entryBytes}.`,
        hint: 'Leave large files out of the pack.',
        details: { path },
      });
    }
    this.#bytes += bytes;
    if (this.#bytes > packLimits.unpackedBytes) throw tooLarge(`more than ${packLimits.unpackedBytes} bytes of files`);
    if (!this.#files.has(path)) return;
    throw new TerminalError('tarball_tar_parse_failed', {
      message: `The pack has ${quoted(path, 120)} twice.`,
      hint: 'Make the archive again from a folder.',
    });
  }

  add(path: string, content: Buffer): void {
    this.#files.set(path, content);
  }

  get files(): PackFiles {
    return new Map([...this.#files].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export const tooLarge = (what: string): TerminalError =>
  new TerminalError('tarball_too_large', {
    message: `The pack has ${what}.`,
    hint: 'A pack holds manifests, prompts and schemas; leave everything else out.',
  });
