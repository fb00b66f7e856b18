/**
 * The built files of Studio, read once. A request finds a file by its exact name in this list, so that no path can lead
 * anywhere else.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readStaticFile, type StaticFile } from '../http/static-file.ts';

/** Files by their path below `/`; `index.html` is the page itself. */
export type StudioFiles = ReadonlyMap<string, StaticFile>;

/** The page. */
export const INDEX = 'index.html';

/** Where vite names its files by their content. */
const ASSETS = 'assets';

/** Next to both `src` and `dist` of this package: the build writes it there. */
export const STUDIO_FOLDER = join(import.meta.dirname, '../../../dist/studio');

/** Null if Studio was not built. */
export async function readStudio(folder: string): Promise<StudioFiles | null> {
  const names = [INDEX, ...(await namesIn(join(folder, ASSETS))).map((name) => `${ASSETS}/${name}`)];
  const files = new Map<string, StaticFile>();
  for (const name of names) {
    const file = await readStaticFile(join(folder, name));
    if (file !== null) files.set(name, file);
  }
  return files.has(INDEX) ? files : null;
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
