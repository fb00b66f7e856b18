/**
 * The index of artifacts: which versions each context has, and which events hold their content. It follows from the rows,
 * except for claims: a writer claims the next version before its first row.
 */
import type { ArtifactFamily, ContextId, RunId } from '@cairn/protocol';

export interface Artifacts {
  /**
   * Claims the next version of an artifact for one writer, and returns its number. Fails with `artifact_version_conflict`
   * while another writer has an open version, and when the current version is not the expected one.
   */
  claim(claim: ArtifactClaim): Promise<number>;
  /** Gives up the claimed or open version of a writer. Does nothing if it has none. */
  abandon(claim: Pick<ArtifactClaim, 'runId' | 'contextId' | 'artifactId' | 'writer'>): Promise<void>;
  /** Artifacts of a context by id, after the one named: those that have a complete or an open version. */
  list(contextId: ContextId, page: ArtifactPage): Promise<readonly ArtifactSummary[]>;
  /** The current and the open version of an artifact; null when it has neither. */
  summary(contextId: ContextId, artifactId: string): Promise<ArtifactSummary | null>;
  /** One version, complete or not; without a number the current one, which is the newest that is complete. */
  get(contextId: ContextId, artifactId: string, version?: number): Promise<ArtifactVersion | null>;
}

export interface ArtifactPage {
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ArtifactClaim {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly artifactId: string;
  readonly family: ArtifactFamily;
  readonly writer: ArtifactWriter;
  /** The version that must be current; 0 for an artifact that has none. Without it any may be. */
  readonly expectedVersion?: number | undefined;
  /** The newest version that the context goes on from without having it: numbers go on after it. */
  readonly earlierVersion?: number | undefined;
  readonly at: number;
}

/**
 * Who writes a version. A call that is tried again claims again. A claim of the same run from an earlier life of its host
 * is nobody's any more, because one node holds a run at a time.
 */
export interface ArtifactWriter {
  /** Identifies the process. */
  readonly life: string;
  readonly callId: string;
}

/** `claimed`: it has no row yet. `abandoned`: it never becomes current. An open version of an ended run is abandoned. */
export type ArtifactState = 'claimed' | 'open' | 'complete' | 'abandoned';

export interface ArtifactVersion {
  readonly artifactId: string;
  readonly version: number;
  readonly family: ArtifactFamily;
  readonly runId: RunId;
  readonly state: ArtifactState;
  /** The first and the last event of the run that hold the content. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
  readonly size: number;
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly updatedAt: number;
}

export interface ArtifactSummary {
  /** Null while the first version is open. */
  readonly current: ArtifactVersion | null;
  /** The version that is being written; null if there is none. */
  readonly open: ArtifactVersion | null;
}
