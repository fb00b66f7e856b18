/** A pack as a command names it: a folder, or an archive of one. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { readPackFolder } from '../agents/packs/folder.ts';
import type { PackFiles } from '../agents/packs/pack-files.ts';
import { makeTarball, openTarball } from '../agents/packs/tarball.ts';
import type { Terminal } from './terminal.ts';

export interface NamedPack {
  readonly files: PackFiles;
  /** Where it lies; null for an archive. */
  readonly folder: string | null;
  /** As it is sent: of a folder an archive is made. */
  readonly tarball: Buffer;
}

export async function readPack(terminal: Terminal, name: string): Promise<NamedPack> {
  const path = resolve(terminal.cwd, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new TerminalError('not_found', {
      message: `There is no folder and no archive ${path}.`,
      hint: 'Name the folder of a pack, or a .tgz of one; "cairn pack init FOLDER" makes one to begin with.',
    });
  }
  if (found.isDirectory()) {
    const files = await readPackFolder(path);
    return { files, folder: path, tarball: makeTarball(files) };
  }
  const tarball = readFileSync(path);
  return { files: await openTarball(tarball), folder: null, tarball };
}
