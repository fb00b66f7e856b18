/** The index of artifacts in SQLite. Rows and claims change it within their transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { ArtifactChange, NewestPieces } from '../../artifact-changes.ts';
import type { ArtifactState } from '../../ports/artifacts.ts';
import type { HeadCache } from '../head-cache.ts';
import { type Query, query } from '../query.ts';

/** Versions of a purged run that one step removes. */
const STEP_VERSIONS = 64;

/** The run whose rows are written. */
export interface ArtifactRun {
  readonly context: string;
  /** The run's key in this database. */
  readonly run: number;
}

export class ArtifactTables {
  readonly #newest: Query<[version: number]>;
  readonly #newestPieces: Query<[version: number, state: ArtifactState, runId: RunId, pieces: number]>;
  /** What the version before says of itself. */
  readonly #before: Query<[name: string | null, mime: string | null]>;
  readonly #giveUp: StatementSync;
  readonly #begin: StatementSync;
  readonly #goOn: StatementSync;
  readonly #share: StatementSync;
  readonly #forget: StatementSync;
  readonly #stored: Query<[row: string]>;
  readonly #dropOfRun: StatementSync;
  readonly #dropOpenShared: StatementSync;

  constructor(db: DatabaseSync) {
    this.#newest = query(
      db,
      'SELECT version FROM artifacts WHERE context = ? AND id = ? AND pieces > 0 ORDER BY version DESC LIMIT 1',
    );
    this.#newestPieces = query(
      db,
      `SELECT a.version, a.state, runs.id, a.pieces FROM artifacts a JOIN runs ON runs.key = a.run
         WHERE a.context = ? AND a.id = ? AND a.pieces > 0 ORDER BY a.version DESC LIMIT 1`,
    );
    this.#before = query(
      db,
      `SELECT name, mime FROM artifacts WHERE context = ? AND id = ? AND version < ? AND pieces > 0
         ORDER BY version DESC LIMIT 1`,
    );
    this.#giveUp = db.prepare(
      `UPDATE artifacts SET state = 'abandoned' WHERE context = ? AND id = ? AND version < ? AND state IN ('open', 'claimed')
         AND run = ?`,
    );
    this.#begin = db.prepare(
      `INSERT INTO artifacts (context, id, version, family, run, state, first_seq, last_seq, pieces, size, name, mime, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
         ON CONFLICT (context, id, version) DO UPDATE SET state = excluded.state, first_seq = excluded.first_seq,
           last_seq = excluded.last_seq, pieces = 1, size = excluded.size, name = excluded.name, mime = excluded.mime,
           family = excluded.family, updated_at = excluded.updated_at WHERE run = excluded.run AND state = 'claimed'`,
    );
    this.#goOn = db.prepare(
      `UPDATE artifacts SET pieces = pieces + 1, last_seq = ?, size = size + ?, updated_at = ?, state = ?
         WHERE context = ? AND id = ? AND version = ? AND run = ? AND state = 'open' AND pieces = ?`,
    );
    this.#share = db.prepare(
      `INSERT INTO artifacts SELECT ?, id, version, family, ?, NULL, NULL, state, first_seq, last_seq, pieces, size, name,
         mime, updated_at FROM artifacts WHERE run = ? AND state = 'complete' AND last_seq < ? ON CONFLICT DO NOTHING`,
    );
    this.#stored = query(
      db,
      `SELECT json_array(id, version, family, replace(state, 'abandoned', 'open'), first_seq, last_seq, pieces, size, name, mime, updated_at)
         FROM artifacts WHERE run = ? AND pieces > 0 ORDER BY id, version`,
    );
    this.#dropOfRun = db.prepare('DELETE FROM artifacts WHERE run = ? AND pieces > 0');
    this.#dropOpenShared = db.prepare("DELETE FROM artifacts WHERE run = ? AND state = 'open' AND last_seq < ?");
    this.#forget = db.prepare(
      `DELETE FROM artifacts WHERE (context, id, version) IN
         (SELECT context, id, version FROM artifacts WHERE run = ? LIMIT ${STEP_VERSIONS})`,
    );
  }

  newestPieces(context: string, artifactId: string, heads: HeadCache): NewestPieces | null {
    const [version, state, runId, pieces] = this.#newestPieces.get(context, artifactId) ?? [];
    if (version === undefined || state === undefined || runId === undefined || pieces === undefined) return null;
    // The table may lag behind a run that ended in this transaction.
    const isOver = state === 'open' && heads.get(runId)?.head.record.endedAt !== null;
    return { version, state: isOver ? 'abandoned' : state, runId, pieces };
  }

  /** Makes the index match the rows of a run, shared ones among them. Returns whether it differed. */
  repair(of: ArtifactRun, changes: readonly ArtifactChange[], firstOwnSeq: number): boolean {
    const before = this.#stored.all(of.run).join();
    if (changes.length === 0 && before === '') return false;
    this.#dropOfRun.run(of.run);
    this.apply(of, changes);
    this.#dropOpenShared.run(of.run, firstOwnSeq);
    return this.#stored.all(of.run).join() !== before;
  }

  /** A piece out of order changes nothing: its version never becomes complete. */
  apply({ context, run }: ArtifactRun, changes: readonly ArtifactChange[]): void {
    for (const { artifactId, index, isLast, ...piece } of changes) {
      const state = isLast ? 'complete' : 'open';
      const [newest = 0] = piece.version === null ? (this.#newest.get(context, artifactId) ?? []) : [];
      if (index > 0) {
        const version = piece.version ?? newest;
        this.#goOn.run(piece.seq, piece.size, piece.at, state, context, artifactId, version, run, index);
        continue;
      }
      const version = piece.version ?? newest + 1;
      const [name = null, mime = null] = this.#before.get(context, artifactId, version) ?? [];
      this.#giveUp.run(context, artifactId, version, run);
      const place = [context, artifactId, version, piece.family, run, state, piece.seq, piece.seq] as const;
      this.#begin.run(...place, piece.size, piece.name ?? name, piece.mimeType ?? mime, piece.at);
    }
  }

  /** Gives a fork the complete versions among the rows that it shares with a run. */
  share(fork: ArtifactRun, source: number, beforeSeq: number): void {
    this.#share.run(fork.context, fork.run, source, beforeSeq);
  }

  /** Removes some versions of a purged run. False when none was left. */
  forgetSome(run: number): boolean {
    return Number(this.#forget.run(run).changes) > 0;
  }
}
