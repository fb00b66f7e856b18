/** File tools. Each run has a folder for data too large for a message; its agents cannot reach beyond it. */
import type { RunId } from '@cairn/protocol';
import { z } from 'zod';
import { artifactPath } from './artifact-names.ts';
import { hostTool } from './define-tool.ts';
import type { Tool } from './tool.ts';

export interface FilePart {
  readonly text: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Offset of the next part; null at the end of the file. */
  readonly nextOffset: number | null;
}

export interface FileEntry {
  readonly path: string;
  readonly bytes: number;
}

/** Paths have the form that `filePath` accepts. Implementations reject symbolic links anywhere in a path. */
export interface FilePort {
  /** Reads at most `maxBytes` of text from a byte offset. */
  read(runId: RunId, path: string, offset: number, maxBytes: number): Promise<FilePart>;
  /** Replaces the whole file, which is durable when this resolves. Writing the same text again changes nothing. */
  write(runId: RunId, path: string, text: string): Promise<FileEntry>;
  /** Lists files in a folder and its subfolders, by path. '' lists all files of the run. */
  list(runId: RunId, folder: string): Promise<readonly FileEntry[]>;
}

/** Limit for one read. The text becomes part of a prompt, so it must fit what a model can read at once. */
const MAX_READ_BYTES = 100_000;
const MAX_WRITE_CHARACTERS = 200_000;

/** A path below the run's folder, in canonical form. */
const filePath = z
  .string()
  .max(512)
  .regex(artifactPath, 'must be a path such as notes/plan.md: relative, without "..", "\\" or control characters')
  .describe('Relative to the folder of the run, such as notes/plan.md.');

export const fileTools = (files: FilePort): readonly Tool[] => [
  hostTool({
    id: 'openwop:fs.read',
    title: 'Read a file',
    description: 'Reads a text file of this run. A long file comes in parts: go on at nextOffset.',
    input: z.strictObject({
      path: filePath,
      offset: z.int().min(0).default(0).describe('Where to begin, in bytes.'),
    }),
    safety: 'read',
    egress: 'none',
    async run({ path, offset }, { runId }) {
      return { path, ...(await files.read(runId, path, offset, MAX_READ_BYTES)) };
    },
  }),
  hostTool({
    id: 'openwop:fs.write',
    title: 'Write a file',
    description: 'Writes a text file of this run, all of it: what was there before is replaced.',
    input: z.strictObject({ path: filePath, text: z.string().max(MAX_WRITE_CHARACTERS) }),
    safety: 'idempotent',
    untrusted: false,
    egress: 'none',
    run: ({ path, text }, { runId }) => files.write(runId, path, text),
  }),
  hostTool({
    id: 'openwop:fs.list',
    title: 'List files',
    description: 'Lists the text files of this run, or of one folder of it, with their sizes.',
    input: z.strictObject({ folder: filePath.optional() }),
    safety: 'read',
    egress: 'none',
    async run({ folder = '' }, { runId }) {
      return { files: await files.list(runId, folder) };
    },
  }),
];
