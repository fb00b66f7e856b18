/** The artifacts that one run wrote after a position: where each version lies and what its content is, by hash. */
import type { EventOf, FoldEvent } from '../../events/event.ts';
import { type ArtifactFamily, type ArtifactPiece, artifactPiece } from '../artifacts.ts';
import { cleanedText, type OwnIds } from './comparable.ts';
import { ContentHash, hashOf } from './content-hash.ts';

/** A complete version. */
export interface WrittenVersion {
  readonly artifactId: string;
  readonly version: number;
  readonly family: ArtifactFamily;
  /** The first and the last event that hold its content. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
  readonly size: number;
  /** Null for a record, and in logs of other hosts. */
  readonly sha256: string | null;
  readonly mimeType: string | null;
  readonly description: string | null;
  /** False for an artifact that the log of another host only names. */
  readonly hasContent: boolean;
}

/** What a run made of one artifact. */
export interface WrittenArtifact {
  /** Its id, without what is the run's own. */
  readonly key: string;
  readonly last: WrittenVersion;
  /** Of the versions before the last one: what their content is. The oldest ones, up to a bound. */
  readonly earlier: readonly string[];
  readonly versions: number;
  /** Of all versions: equal if the artifacts are. */
  readonly hash: number;
}

/** An artifact that is in one run only, or differs. */
export interface ArtifactPair {
  readonly a: WrittenArtifact | null;
  readonly b: WrittenArtifact | null;
}

export interface ArtifactAlignment {
  /** By key, up to the limit. */
  readonly pairs: readonly ArtifactPair[];
  /** The number of all that differ, and of those that are equal. */
  readonly changed: number;
  readonly same: number;
}

/** Artifacts that one side keeps; later ones are counted. */
const MAX_ARTIFACTS = 5_000;

const MAX_EARLIER = 20;

interface OpenVersion extends Omit<WrittenVersion, 'lastSeq' | 'size' | 'sha256'> {
  size: number;
  pieces: number;
}

interface Entry {
  readonly earlier: string[];
  readonly hash: ContentHash;
  last: WrittenVersion;
  lastContent: string;
  versions: number;
}

export class SideArtifacts {
  readonly #ids: OwnIds;
  readonly #open = new Map<string, OpenVersion>();
  readonly #entries = new Map<string, Entry>();
  /** Versions of artifacts beyond the most that are kept. */
  left = 0;

  constructor(ids: OwnIds) {
    this.#ids = ids;
  }

  /** Takes the next event in order. */
  add(event: FoldEvent): void {
    const piece = artifactPiece(event);
    if (piece === null) {
      if (event.type === 'artifact.created') this.#announced(event);
      return;
    }
    const { artifactId, index } = piece;
    const open = index === 0 ? this.#begun(piece, event) : this.#open.get(artifactId);
    // A piece out of order is part of no version.
    if (open?.pieces !== index || (piece.version !== null && piece.version !== open.version)) return;
    open.pieces += 1;
    open.size += piece.size;
    if (!piece.isLast) this.#open.set(artifactId, open);
    else {
      this.#open.delete(artifactId);
      this.#complete(open, event);
    }
  }

  #begun(
    { artifactId, version, family, mimeType }: ArtifactPiece,
    { seq, payload }: FoldEvent,
  ): OpenVersion | undefined {
    if (!this.#open.has(artifactId) && this.#open.size >= MAX_ARTIFACTS) {
      this.left += 1;
      return undefined;
    }
    const description =
      'description' in payload && typeof payload.description === 'string' ? payload.description : null;
    const known = this.#entries.get(this.#keyOf(artifactId))?.last.version ?? 0;
    const about = { artifactId, version: version ?? known + 1, family, mimeType, description, hasContent: true };
    return { ...about, firstSeq: seq, size: 0, pieces: 0 };
  }

  /** The row that closes a file or a dataset says nothing new. */
  #announced({ seq, payload }: EventOf<'artifact.created'>): void {
    const { artifactId, artifactType, version: text, bytes = 0, sha256 = null, summary = null } = payload;
    const known = this.#entries.get(this.#keyOf(artifactId))?.last.version ?? 0;
    const version = text === undefined ? known || 1 : Number(text);
    if (version === known || !Number.isSafeInteger(version)) return;
    const about = { artifactId, version, family: 'file', size: bytes, mimeType: artifactType, sha256 } as const;
    this.#keep({ ...about, firstSeq: seq, lastSeq: seq, description: summary, hasContent: false }, sha256 ?? '');
  }

  #complete({ pieces: _, ...open }: OpenVersion, { seq, payload }: FoldEvent): void {
    const sha256 = 'sha256' in payload && typeof payload.sha256 === 'string' ? payload.sha256 : null;
    const record = 'data' in payload ? payload.data : undefined;
    this.#keep({ ...open, lastSeq: seq, sha256 }, sha256 ?? `${hashOf(record)}`);
  }

  #keep(version: WrittenVersion, content: string): void {
    const key = this.#keyOf(version.artifactId);
    const entry = this.#entries.get(key);
    if (entry === undefined && this.#entries.size >= MAX_ARTIFACTS) {
      this.left += 1;
      return;
    }
    const { family, size, mimeType, description } = version;
    const hash = (entry?.hash ?? new ContentHash()).json({ family, size, mimeType, description, content });
    if (entry === undefined) {
      this.#entries.set(key, { hash, last: version, lastContent: content, versions: 1, earlier: [] });
      return;
    }
    if (entry.earlier.length < MAX_EARLIER) entry.earlier.push(entry.lastContent);
    entry.last = version;
    entry.lastContent = content;
    entry.versions += 1;
  }

  #keyOf(artifactId: string): string {
    return cleanedText(artifactId, this.#ids);
  }

  get(key: string): WrittenArtifact | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    const { last, earlier, versions, hash } = entry;
    return { key, last, earlier, versions, hash: hash.value };
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }
}

/** Both sides keep so few that this takes less than a turn of the event loop. */
export function alignArtifacts(a: SideArtifacts, b: SideArtifacts, limit: number): ArtifactAlignment {
  const pairs: ArtifactPair[] = [];
  let [changed, same] = [0, 0];
  for (const key of [...new Set([...a.keys(), ...b.keys()])].sort()) {
    const pair = { a: a.get(key), b: b.get(key) };
    if (pair.a?.hash === pair.b?.hash) same += 1;
    else {
      changed += 1;
      if (pairs.length < limit) pairs.push(pair);
    }
  }
  return { pairs, changed, same };
}
