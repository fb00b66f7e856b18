/** Artifacts as a fold of the log: what rows change in the index, and the rule for claims that every store shares. */
import {
  type ArtifactPiece,
  artifactPiece,
  foldEventOf,
  RetryableError,
  type RunId,
  type StoredRow,
  TerminalError,
} from '@cairn/protocol';
import type { ArtifactClaim, ArtifactState, ArtifactWriter } from './ports/artifacts.ts';
import type { Row } from './ports/rows.ts';

export interface ArtifactChange extends ArtifactPiece {
  readonly seq: number;
  readonly at: number;
}

const nothing: readonly ArtifactChange[] = [];

/** The pieces that rows hold; almost all rows hold none. */
export function artifactChanges(rows: readonly StoredRow[]): readonly ArtifactChange[] {
  let changes: ArtifactChange[] | null = null;
  for (const row of rows) {
    const piece = isArtifactRow(row) ? artifactPiece(foldEventOf(row)) : null;
    if (piece === null) continue;
    changes ??= [];
    changes.push({ ...piece, seq: row.seq, at: row.at });
  }
  return changes ?? nothing;
}

/** Called for every row that is written. */
export const isArtifactRow = ({ type }: Pick<Row, 'type'>): boolean =>
  type === 'cairn.artifact.chunk' || type === 'cairn.artifact.rows' || type === 'artifact.created';

const noBlobs: readonly string[] = [];

/** The sha256 of each blob that the pieces name, once. */
export function blobsOf(changes: readonly ArtifactChange[]): readonly string[] {
  if (changes.length === 0) return noBlobs;
  return [...new Set(changes.flatMap(({ blob }) => blob ?? []))];
}

/** The newest version of an artifact, as a claim sees it. */
export interface NewestVersion {
  readonly version: number;
  readonly state: ArtifactState;
  readonly runId: string;
  readonly hasRunEnded: boolean;
  readonly writer: ArtifactWriter | null;
}

/** The number of the version that a claim gets. */
export function claimedVersion(claim: ArtifactClaim, newest: NewestVersion | null, own: number): number {
  const { expectedVersion, earlierVersion = 0, artifactId } = claim;
  const current = Math.max(own, earlierVersion);
  if (newest !== null && isHeldByAnother(newest, claim)) {
    throw new RetryableError('artifact_version_conflict', {
      message: `Version ${newest.version} of the artifact ${JSON.stringify(artifactId)} is being written by run ${newest.runId}.`,
      hint: 'Wait until it is complete, or write another artifact.',
      details: { artifactId, currentVersion: current, openVersion: newest.version },
    });
  }
  if (expectedVersion !== undefined && expectedVersion !== current) {
    throw new RetryableError('artifact_version_conflict', {
      message: `The artifact ${JSON.stringify(artifactId)} has version ${current}, not ${expectedVersion}.`,
      hint: 'Read the current version, merge your change, and write again.',
      details: { artifactId, currentVersion: current },
    });
  }
  // A claim that never got a row leaves its number.
  if (newest?.state === 'claimed' && newest.runId === claim.runId) return newest.version;
  return Math.max(newest?.version ?? 0, earlierVersion) + 1;
}

function isHeldByAnother(newest: NewestVersion, { runId, writer }: ArtifactClaim): boolean {
  if ((newest.state !== 'open' && newest.state !== 'claimed') || newest.hasRunEnded) return false;
  if (newest.runId !== runId) return true;
  return newest.writer?.life === writer.life && newest.writer.callId !== writer.callId;
}

/** The newest version of an artifact that has a piece. */
export interface NewestPieces {
  readonly version: number;
  readonly state: ArtifactState;
  readonly runId: RunId;
  /** The index of the next piece. */
  readonly pieces: number;
}

/** Refuses pieces that leave a gap, repeat an index, or go to a version of another run. */
export function refuseDisorder(
  changes: readonly ArtifactChange[],
  runId: RunId,
  newestOf: (artifactId: string) => NewestPieces | null,
): void {
  const known = new Map<string, NewestPieces | null>();
  for (const change of changes) {
    const { artifactId, index, isLast } = change;
    const newest = known.get(artifactId) ?? newestOf(artifactId);
    const version = change.version ?? (index === 0 ? (newest?.version ?? 0) + 1 : (newest?.version ?? 0));
    const isOthers = newest !== null && newest.runId !== runId;
    if (isOthers && (newest.state === 'open' || version <= newest.version)) throw heldByOther(artifactId, newest);
    const isNext =
      index === 0
        ? newest === null || version > newest.version
        : newest?.state === 'open' && newest.version === version && newest.pieces === index;
    if (!isNext) throw outOfOrder(change, newest?.version === version ? newest.pieces : 0);
    known.set(artifactId, { version, runId, pieces: index + 1, state: isLast ? 'complete' : 'open' });
  }
}

const heldByOther = (artifactId: string, { version, runId }: NewestPieces): RetryableError =>
  new RetryableError('artifact_version_conflict', {
    message: `Version ${version} of the artifact ${JSON.stringify(artifactId)} is of run ${runId}.`,
    hint: 'Wait until it is complete, and write the next version.',
    details: { artifactId, openVersion: version },
  });

const outOfOrder = ({ artifactId, index }: ArtifactChange, expected: number): TerminalError =>
  new TerminalError('artifact_chunk_out_of_order', {
    message: `Piece ${index} of the artifact ${JSON.stringify(artifactId)} is not the next one, which is ${expected}.`,
    hint: 'Write the artifact again from its beginning, as a new version.',
    details: { artifactId, index, expected },
  });
