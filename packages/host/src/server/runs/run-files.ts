/**
 * Files that earlier versions of the host kept in a folder of their run. They can still be read; new ones are artifacts.
 * Each segment of a path is checked before use, so that symbolic links are never followed.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted, type RunId, TerminalError } from '@cairn/protocol';
import type { FileEntry } from '../../agents/builtin-tools/file-tools.ts';
import { thrownCode } from '../../thrown-code.ts';

/** As many files as a run could have. */
const MAX_FILES = 1_000;

/** The folder of the files of all runs, in a data folder. */
export const runFolder = (data: string): string => join(data, 'runs');

/** Deletes the folder of a run, if it has one. */
export const removeRunFiles =
  (folder: string) =>
  async (runId: RunId): Promise<void> => {
    if (isFolderName(runId)) await rm(join(folder, runId), { recursive: true, force: true });
  };

/** Bytes of a file from an offset on, and the size of all of it. */
export interface FileBytes {
  readonly bytes: Buffer;
  readonly size: number;
}

export interface RunFolders {
  /** Null when the run has no such file. */
  read(
    runId: RunId,
    path: string,
    part: { readonly offset: number; readonly maxBytes: number },
  ): Promise<FileBytes | null>;
  list(runId: RunId, below: string): Promise<readonly FileEntry[]>;
}

/** `folder` contains one folder per run. */
export const runFolders = (folder: string): RunFolders => {
  const rootOf = (runId: RunId): string => join(folder, runId, 'files');
  return {
    read: async (runId, path, part) => (isFolderName(runId) ? read({ root: rootOf(runId), path }, part) : null),
    list: async (runId, below) => (isFolderName(runId) ? list(rootOf(runId), below) : []),
  };
};

/**
 * The host generates run ids and derives child ids from their parent's: `run_1.2`. Anything else is not a folder name.
 */
const isFolderName = (runId: RunId): boolean => /^(?=.{1,128}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(runId);

interface Place {
  readonly root: string;
  /** In the form of the tools' `filePath`. */
  readonly path: string;
}

async function read(
  { root, path }: Place,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Promise<FileBytes | null> {
  await refuseLinks({ root, path });
  const file = await opened(join(root, path), path);
  if (file === null) return null;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw wrong(`${quoted(path)} is not a file`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(maxBytes, stat.size)), { position: offset });
    return { bytes: buffer.subarray(0, bytesRead), size: stat.size };
  } finally {
    await file.close();
  }
}

async function refuseLinks({ root, path }: Place): Promise<void> {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if ((await kindOf(at)) === 'link') throw wrong(`${quoted(part)} of ${quoted(path)} is a link`);
  }
}

/** Fails if the file became a link after it was checked. */
async function opened(file: string, path: string): Promise<FileHandle | null> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP') throw wrong(`${quoted(path)} is a link`);
    throw error;
  }
}

type Kind = 'file' | 'folder' | 'link' | 'special file';

async function kindOf(path: string): Promise<Kind | null> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return 'link';
    if (stat.isDirectory()) return 'folder';
    return stat.isFile() ? 'file' : 'special file';
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Skips links and special files, which are not files of the run. */
async function list(root: string, below: string): Promise<readonly FileEntry[]> {
  if (below !== '') await refuseLinks({ root, path: below });
  const found: FileEntry[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) found.push({ path, bytes: (await lstat(join(root, path))).size });
      if (found.length >= MAX_FILES) return;
    }
  };
  await visit(below);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** An error for the agent, which can correct its call. */
const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` });
