/** Admits what rows write of artifacts: pieces in order, and blobs that are there. */
import { type ContextId, invariant } from '@cairn/protocol';
import {
  type ArtifactChange,
  artifactChanges,
  blobsOf,
  type NewestPieces,
  refuseDisorder,
} from './artifact-changes.ts';
import { blobMissing } from './errors.ts';
import { asksNobody } from './fold-run-index.ts';
import type { Row } from './ports/rows.ts';
import type { RunRecord } from './ports/run-index.ts';

/** What rows write of artifacts, and the blobs that they name. */
export interface WritesArtifacts {
  readonly artifacts: readonly ArtifactChange[];
  readonly blobs: readonly string[];
}

export interface ArtifactQueries {
  hasBlob(tenant: string, sha256: string): boolean;
  /** The newest version of an artifact that has a piece. Open versions of runs that have ended are abandoned. */
  newestPieces(contextId: ContextId, artifactId: string): NewestPieces | null;
}

export function admitArtifacts(record: RunRecord, rows: readonly Row[], guards: ArtifactQueries): WritesArtifacts {
  const artifacts = artifactChanges(rows);
  const { runId, contextId } = record;
  // A replay repeats what its source wrote, from the middle of a version if it is cut there.
  if (artifacts.length > 0 && !asksNobody(record))
    refuseDisorder(artifacts, runId, (artifactId) => guards.newestPieces(contextId, artifactId));
  const blobs = blobsOf(artifacts);
  const missing = missingBlob(record, blobs, guards);
  if (missing !== undefined) invariant(false, 'row-names-kept-blob', { runId, sha256: missing });
  return { artifacts, blobs };
}

/** Rows of another host are taken as they are: a piece out of order is part of no version. */
export function admitImportedArtifacts(
  record: RunRecord,
  rows: readonly Row[],
  guards: Pick<ArtifactQueries, 'hasBlob'>,
): WritesArtifacts {
  const artifacts = artifactChanges(rows);
  const blobs = blobsOf(artifacts);
  const missing = missingBlob(record, blobs, guards);
  if (missing !== undefined) throw blobMissing(record.runId, missing);
  return { artifacts, blobs };
}

/** A blob that rows name and the tenant does not have. */
const missingBlob = ({ tenant }: RunRecord, names: readonly string[], guards: Pick<ArtifactQueries, 'hasBlob'>) =>
  names.find((sha256) => !guards.hasBlob(tenant, sha256));
