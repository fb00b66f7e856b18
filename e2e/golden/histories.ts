/** The golden histories of every version: bundles, and what their runs looked like when they were recorded. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../packages/protocol/src/index.ts';

/** The file of a version that lists its histories. */
export const INDEX = 'histories.json';

/** What is known of a bundle, by the name of its file. */
export type HistoryIndex = Readonly<Record<string, RecordedHistory>>;

export interface RecordedHistory {
  /** Of the file. It never changes once the version is released. */
  readonly sha256: string;
  /** The snapshots of its runs, by id. */
  readonly snapshots: Readonly<Record<string, JsonObject>>;
}

export interface History extends RecordedHistory {
  /** As in `v1.2.3/approvals.jsonl`. */
  readonly name: string;
  readonly file: string;
}

export const versionFolder = (version: string): string => join(import.meta.dirname, `v${version}`);

export const fileHash = (file: string): string => hash('sha256', readFileSync(file));

/** Every bundle in the folders of versions, also one that no index names. */
export function histories(): readonly History[] {
  const versions = readdirSync(import.meta.dirname).filter((name) => /^v\d/.test(name));
  return versions.sort().flatMap((version) => {
    const folder = join(import.meta.dirname, version);
    const index: HistoryIndex = JSON.parse(readFileSync(join(folder, INDEX), 'utf8'));
    const files = new Set([...Object.keys(index), ...readdirSync(folder).filter((name) => name !== INDEX)]);
    return [...files].sort().map((file) => ({
      sha256: existsSync(join(folder, file)) ? 'not in the index' : 'no file',
      snapshots: {},
      ...index[file],
      name: `${version}/${file}`,
      file: join(folder, file),
    }));
  });
}
