/** Which blobs rows name. Every store counts these references in the append that writes the rows. */
import { artifactPiece, foldEventOf, type StoredRow } from '@cairn/protocol';
import type { Row } from './ports/rows.ts';

const nothing: readonly string[] = [];

/** The sha256 of each blob that a row names, once; almost all rows name none. */
export function blobRefs(rows: readonly Row[]): readonly string[] {
  let found: Set<string> | null = null;
  for (const row of rows) {
    const sha256 = isArtifactRow(row) ? blobOf(row) : null;
    if (sha256 === null) continue;
    found ??= new Set();
    found.add(sha256);
  }
  return found === null ? nothing : [...found];
}

/** Called for every row that is written. */
export const isArtifactRow = ({ type }: Pick<Row, 'type'>): boolean =>
  type === 'cairn.artifact.chunk' || type === 'cairn.artifact.rows';

/** The sha256 of the blob that an artifact row names; null if it holds its content itself. */
export const blobOf = (row: StoredRow): string | null => artifactPiece(foldEventOf(row))?.blob ?? null;
