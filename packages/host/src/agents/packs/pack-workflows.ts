/**
 * The workflows of a pack: each `workflows/*.json` is a definition. The host registers the workflows of packs in its
 * own folders.
 */
import { isUtf8 } from 'node:buffer';
import { type AuthoredWorkflow, parseAuthoredWorkflow, quoted, TerminalError } from '@cairn/protocol';
import type { PackFiles } from './pack-files.ts';
import { packJson, reasonOf } from './pack-json.ts';

export interface PackWorkflow {
  /** Path inside the pack. */
  readonly path: string;
  readonly definition: AuthoredWorkflow;
}

const isWorkflow = (path: string): boolean => /^workflows\/[^/]+\.json$/.test(path);

/** Sorted by path. Registration checks whether a host can run them. */
export function packWorkflows(files: PackFiles): readonly PackWorkflow[] {
  const found: PackWorkflow[] = [];
  for (const [path, content] of files) {
    if (!isWorkflow(path)) continue;
    const definition = parsed(path, content);
    const twin = found.find((other) => other.definition.id === definition.id);
    if (twin !== undefined) throw wrong(path, `it is the workflow ${definition.id}, as ${twin.path} is`);
    found.push({ path, definition });
  }
  return found;
}

function parsed(path: string, content: Buffer): AuthoredWorkflow {
  if (!isUtf8(content)) throw wrong(path, 'it is not UTF-8');
  try {
    return parseAuthoredWorkflow(packJson(content.toString('utf8')));
  } catch (error) {
    throw wrong(path, reasonOf(error));
  }
}

const wrong = (path: string, reason: string): TerminalError =>
  new TerminalError('invalid_manifest', {
    message: `The pack has ${quoted(path, 120)}, and ${quoted(reason, 300).slice(1, -1)}.`,
    hint: 'Correct the file; "cairn pack lint" checks a folder before it is sent.',
    details: { path },
  });
