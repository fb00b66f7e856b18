/** The artifacts of a context, as a fold of the events of its runs. */
import type { FoldEvent } from '../events/event.ts';
import { isTerminalType } from '../events/terminal-types.ts';
import type { RunId } from '../ids.ts';
import { own, put } from './dictionary.ts';

/** Bytes, one JSON record, or rows. */
export type ArtifactFamily = 'file' | 'data' | 'dataset';

export interface ArtifactVersionView {
  readonly version: number;
  readonly family: ArtifactFamily;
  readonly runId: RunId;
  /** `abandoned`: its run ended, or began again, before it was complete. It never becomes current. */
  state: 'open' | 'complete' | 'abandoned';
  readonly firstSeq: number;
  lastSeq: number;
  /** Pieces so far; the index of the next one. */
  pieces: number;
  /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
  size: number;
  readonly name: string | null;
  readonly mimeType: string | null;
  updatedAt: number;
}

export interface ArtifactView {
  readonly artifactId: string;
  /** Oldest first. */
  readonly versions: ArtifactVersionView[];
  /** The newest complete version; null while there is none. */
  current: number | null;
}

/** Plain JSON, as every view. */
export interface ArtifactsView {
  /** By artifact id. */
  readonly artifacts: Record<string, ArtifactView>;
  /** The ids of open artifacts, by the run that writes them. */
  readonly openOf: Record<string, string[]>;
}

export const newArtifactsView = (): ArtifactsView => ({ artifacts: {}, openOf: {} });

/** What one event says of an artifact: a piece of a version. */
export interface ArtifactPiece {
  readonly artifactId: string;
  readonly family: ArtifactFamily;
  /** Null in logs of other hosts. */
  readonly version: number | null;
  readonly index: number;
  readonly isLast: boolean;
  readonly size: number;
  readonly name: string | null;
  readonly mimeType: string | null;
  /** The sha256 of the blob that holds the piece. */
  readonly blob: string | null;
}

/** The piece that an event holds; null for an event that writes no artifact. */
export function artifactPiece(event: FoldEvent): ArtifactPiece | null {
  switch (event.type) {
    case 'cairn.artifact.chunk': {
      const { mimeType, bytes, data = '' } = event.payload;
      return { ...pieceOf('file', event.payload), size: bytes ?? data.length, mimeType: mimeType ?? null };
    }
    case 'cairn.artifact.rows': {
      const { count, rows = [] } = event.payload;
      return { ...pieceOf('dataset', event.payload), size: count ?? rows.length };
    }
    case 'artifact.created': {
      const { artifactId, version, name, data } = event.payload;
      // The row that closes a file or a dataset holds no content; neither does one of another host.
      if (data === undefined) return null;
      const record = { family: 'data', index: 0, isLast: true, mimeType: 'application/json', blob: null } as const;
      const size = JSON.stringify(data).length;
      return { artifactId, version: versionOf(version), name: name ?? null, size, ...record };
    }
    default:
      return null;
  }
}

const versionOf = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : null;

interface PiecePayload {
  readonly artifactId: string;
  readonly version?: number | undefined;
  readonly index: number;
  readonly complete: boolean;
  readonly name?: string | undefined;
  readonly blob?: { readonly sha256: string } | undefined;
}

const pieceOf = (family: ArtifactFamily, payload: PiecePayload): ArtifactPiece => ({
  artifactId: payload.artifactId,
  family,
  version: payload.version ?? null,
  index: payload.index,
  isLast: payload.complete,
  size: 0,
  name: payload.name ?? null,
  mimeType: null,
  blob: payload.blob?.sha256 ?? null,
});

/** An event, and the run that it belongs to. */
type WrittenEvent = FoldEvent & { readonly runId: RunId };

/** Folds the next event of any run of the context, in place. Open versions of a run that ends are abandoned. */
export function foldArtifacts(view: ArtifactsView, event: WrittenEvent): void {
  if (isTerminalType(event.type)) abandonAll(view, event.runId);
  const piece = artifactPiece(event);
  if (piece === null) return;
  const known = own(view.artifacts, piece.artifactId);
  if (piece.index === 0) begin(view, known, { piece, event });
  else if (known !== undefined) goOn(view, known, { piece, event });
}

interface Written {
  readonly piece: ArtifactPiece;
  readonly event: WrittenEvent;
}

/** The first piece opens a version. An open version of the same run is abandoned by it: a call was tried again. */
function begin(view: ArtifactsView, known: ArtifactView | undefined, { piece, event }: Written): void {
  const { artifactId, family, isLast } = piece;
  const newest = known?.versions.at(-1);
  const version = piece.version ?? (newest?.version ?? 0) + 1;
  if (newest !== undefined) {
    if (version <= newest.version || (newest.state === 'open' && newest.runId !== event.runId)) return;
    if (newest.state === 'open') newest.state = 'abandoned';
  }
  const artifact = known ?? { artifactId, versions: [], current: null };
  if (known === undefined) put(view.artifacts, artifactId, artifact);
  artifact.versions.push({
    version,
    family,
    runId: event.runId,
    state: 'open',
    firstSeq: event.seq,
    lastSeq: event.seq,
    pieces: 1,
    size: piece.size,
    name: piece.name ?? newest?.name ?? null,
    mimeType: piece.mimeType ?? newest?.mimeType ?? null,
    updatedAt: event.at,
  });
  if (isLast) complete(view, artifact);
  else put(view.openOf, event.runId, [...(own(view.openOf, event.runId) ?? []), artifactId]);
}

/** A piece out of order is not part of the version. */
function goOn(view: ArtifactsView, artifact: ArtifactView, { piece, event }: Written): void {
  const open = artifact.versions.at(-1);
  if (open?.state !== 'open' || open.runId !== event.runId) return;
  if (piece.index !== open.pieces || (piece.version !== null && piece.version !== open.version)) return;
  open.lastSeq = event.seq;
  open.pieces += 1;
  open.size += piece.size;
  open.updatedAt = event.at;
  if (piece.isLast) complete(view, artifact);
}

function complete(view: ArtifactsView, artifact: ArtifactView): void {
  const version = artifact.versions.at(-1);
  if (version === undefined) return;
  version.state = 'complete';
  artifact.current = version.version;
  forget(view, version.runId, artifact.artifactId);
}

function forget({ openOf }: ArtifactsView, runId: string, artifactId: string): void {
  const left = (own(openOf, runId) ?? []).filter((id) => id !== artifactId);
  if (left.length > 0) put(openOf, runId, left);
  else delete openOf[runId];
}

function abandonAll(view: ArtifactsView, runId: string): void {
  for (const artifactId of own(view.openOf, runId) ?? []) {
    const version = own(view.artifacts, artifactId)?.versions.at(-1);
    if (version?.state === 'open' && version.runId === runId) version.state = 'abandoned';
  }
  delete view.openOf[runId];
}
