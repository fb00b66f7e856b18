/**
 * The workflows of a pack: each `workflows/*.json` is a definition. The host registers the workflows of packs in its
 * own folders.
 */
import { type AuthoredWorkflow, parseAuthoredWorkflow } from '@cairn/protocol';
import { type DataKind, dataIn } from './pack-data.ts';
import type { PackFiles } from './pack-files.ts';

export interface PackWorkflow {
  /** Path inside the pack. */
  readonly path: string;
  readonly definition: AuthoredWorkflow;
}

const workflows: DataKind<AuthoredWorkflow> = {
  folder: 'workflows',
  parse: parseAuthoredWorkflow,
  nameOf: ({ id }) => `workflow ${id}`,
};

/** Registration checks whether a host can run them. */
export const packWorkflows = (files: PackFiles): readonly PackWorkflow[] =>
  dataIn(files, workflows).map(({ path, value }) => ({ path, definition: value }));
