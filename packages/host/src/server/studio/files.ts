/**
 * The built files of Studio, read once. A request finds a file by its exact name in this list, so that no path can lead
 * anywhere else.
 */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface StudioFile {
  readonly bytes: Buffer;
  /** The same, compressed. */
  readonly gzipped: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

/** Files by their path below `/`; `index.html` is the page itself. */
export type StudioFiles = ReadonlyMap<string, StudioFile>;

/** The page. */
export const INDEX = 'index.html';

/** Where vite names its files by their content. */
const ASSETS = 'assets';

/** Next to both `src` and `dist` of this package: the build writes it there. */
export const STUDIO_FOLDER = join(import.meta.dirname, '../../../dist/studio');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Null if Studio was not built. */
export async function readStudio(folder: string): Promise<StudioFiles | null> {
  const names = [INDEX, ...(await namesIn(join(folder, ASSETS))).map((name) => `${ASSETS}/${name}`)];
  const files = new Map<string, StudioFile>();
  for (const name of names) {
    const contentType = types[extname(name)];
    const bytes = contentType === undefined ? null : await contentOf(join(folder, name));
    if (contentType === undefined || bytes === null) continue;
    const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
    files.set(name, { bytes, gzipped: await promisify(gzip)(bytes), contentType, etag });
  }
  return files.has(INDEX) ? files : null;
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

const contentOf = (file: string): Promise<Buffer | null> => readFile(file).catch(() => null);
