/** File tools. Files are artifacts of the conversation, for data too large for a message. */
import type { ContextId, RunId } from '@cairn/protocol';
import { z } from 'zod';
import { utf8Size } from '../../utf8.ts';
import { artifactPath, MAX_ARTIFACT_NAME } from '../tools/artifact-names.ts';
import { hostTool } from '../tools/define-tool.ts';
import type { HostToolContext, Tool } from '../tools/tool.ts';

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

/** The run that reads. */
export interface FileReader {
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly runId: RunId;
}

/** Paths have the form that `filePath` accepts. */
export interface FilePort {
  /** Reads at most `maxBytes` of text of the current version, from a byte offset. */
  read(
    reader: FileReader,
    path: string,
    part: { readonly offset: number; readonly maxBytes: number },
  ): Promise<FilePart>;
  /** Lists files in a folder and its subfolders, by path. '' lists all files of the conversation. */
  list(reader: FileReader, folder: string): Promise<readonly FileEntry[]>;
}

/** Limit for one read. The text becomes part of a prompt, so it must fit what a model can read at once. */
const MAX_READ_BYTES = 100_000;
const MAX_WRITE_CHARACTERS = 200_000;

/** A path below the run's folder, in canonical form. */
const filePath = z
  .string()
  .max(MAX_ARTIFACT_NAME)
  .regex(artifactPath, 'must be a path such as notes/plan.md: relative, without "..", "\\" or control characters')
  .describe('Relative to the folder of the run, such as notes/plan.md.');

export const fileTools = (files: FilePort): readonly Tool[] => [
  hostTool({
    id: 'openwop:fs.read',
    title: 'Read a file',
    description: 'Reads a text file of this conversation, in parts if it is long: use nextOffset.',
    input: z.strictObject({
      path: filePath,
      offset: z.int().min(0).default(0).describe('Where to begin, in bytes.'),
    }),
    safety: 'read',
    egress: 'none',
    async run({ path, offset }, context) {
      return { path, ...(await files.read(readerOf(context), path, { offset, maxBytes: MAX_READ_BYTES })) };
    },
  }),
  hostTool({
    id: 'openwop:fs.write',
    title: 'Write a file',
    description: 'Writes a text file of this conversation, all of it, over what was there before.',
    input: z.strictObject({ path: filePath, text: z.string().max(MAX_WRITE_CHARACTERS) }),
    safety: 'idempotent',
    untrusted: false,
    egress: 'none',
    async run({ path, text }, { file }) {
      const open = file(path);
      if (text !== '') await open.write(text);
      await open.close();
      return { path, bytes: utf8Size(text.toWellFormed()) };
    },
  }),
  hostTool({
    id: 'openwop:fs.list',
    title: 'List files',
    description: 'Lists the text files of this conversation, or of one folder, with their sizes.',
    input: z.strictObject({ folder: filePath.optional() }),
    safety: 'read',
    egress: 'none',
    async run({ folder = '' }, context) {
      return { files: await files.list(readerOf(context), folder) };
    },
  }),
];

const readerOf = ({ tenant, contextId, runId }: HostToolContext): FileReader => ({ tenant, contextId, runId });
