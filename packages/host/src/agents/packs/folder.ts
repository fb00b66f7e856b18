/** Reads packs from folders on disk. Names that begin with a dot are ignored. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted, TerminalError } from '@cairn/protocol';
import { FileCollector, MANIFEST, type PackFiles, packPath } from './pack-files.ts';

export async function readPackFolder(folder: string): Promise<PackFiles> {
  const collector = new FileCollector();
  await collect(folder, '', collector);
  return collector.files;
}

/** Finds packs: the folder itself when it has a `pack.json`, else each direct subfolder that has one. */
export async function packFoldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some(({ name }) => name === MANIFEST)) return [folder];
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const below = join(folder, entry.name);
    if ((await readdir(below)).includes(MANIFEST)) found.push(below);
  }
  return found;
}

async function collect(folder: string, prefix: string, collector: FileCollector): Promise<void> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = packPath(prefix === '' ? entry.name : `${prefix}/${entry.name}`, `The folder ${folder}`);
    if (entry.isDirectory()) await collect(folder, path, collector);
    else if (entry.isFile()) {
      // Checks the size before the read. `lstat` does not follow a link that replaced the file in the meantime.
      const { size } = await lstat(join(folder, path));
      collector.expect(path, size);
      collector.add(path, await readFile(join(folder, path)));
    } else throw oddEntry(folder, path);
  }
}

const oddEntry = (folder: string, path: string): TerminalError =>
  new TerminalError('tarball_path_traversal', {
    message: `${folder} has ${quoted(path, 120)}, which is neither a file nor a folder; a pack has no links.`,
    hint: 'Replace links by the files they lead to.',
    details: { path },
  });
