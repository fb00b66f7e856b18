/** The index of artifacts in SQLite. Rows and claims change it within their transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { ArtifactChange, NewestPieces } from '../../artifact-changes.ts';
import type { ArtifactState } from '../../ports/artifacts.ts';
import type { RunFork } from '../../ports/run-index.ts';
import type { HeadCache } from '../append/head-cache.ts';
import { type Query, query } from '../query.ts';

/** Versions of a purged run that one step removes. */
const STEP_VERSIONS = 64;

/**
 * The state of a version that the cut of a branch left open. The branch does not go on with it, and does not give its
 * number again. Nothing but the number counts.
 */
export const CUT = 'cut';

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
  readonly #shareCut: StatementSync;
  readonly #repeat: StatementSync;
  readonly #forget: StatementSync;
  readonly #stored: Query<[row: string]>;
  readonly #dropOfRun: StatementSync;
  readonly #cutOpen: StatementSync;
  readonly #dropOpenShared: StatementSync;

  constructor(db: DatabaseSync) {
    this.#newest = query(
      db,
      'SELECT version FROM artifacts WHERE context = ? AND id = ? AND pieces > 0 ORDER BY version DESC LIMIT 1',
    );
    this.#newestPieces = query(
      db,
      `SELECT a.version, replace(a.state, '${CUT}', 'abandoned'), runs.id, a.pieces FROM artifacts a JOIN runs ON runs.key = a.run
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
           family = excluded.family, updated_at = excluded.updated_at WHERE run = excluded.run
           AND state IN ('claimed', '${CUT}')`,
    );
    this.#goOn = db.prepare(
      `UPDATE artifacts SET pieces = pieces + 1, last_seq = ?, size = size + ?, updated_at = ?, state = ?
         WHERE context = ? AND id = ? AND version = ? AND run = ? AND state = 'open' AND pieces = ?`,
    );
    this.#share = db.prepare(
      `INSERT INTO artifacts SELECT ?, id, version, family, ?, NULL, NULL, state, first_seq, last_seq, pieces, size, name,
         mime, updated_at FROM artifacts WHERE run = ? AND state = 'complete' AND last_seq < ? ON CONFLICT DO NOTHING`,
    );
    this.#shareCut = db.prepare(
      `INSERT INTO artifacts SELECT ?1, id, version, family, ?2, NULL, NULL, '${CUT}', first_seq, first_seq, 1, 0, name, mime, 0
         FROM artifacts WHERE run = ?3 AND pieces > 0 AND first_seq < ?4 AND NOT (state = 'complete' AND last_seq < ?4)
         ON CONFLICT DO NOTHING`,
    );
    this.#repeat = db.prepare(
      `INSERT INTO artifacts SELECT ?1, id, version, family, ?2, NULL, NULL, state, first_seq, last_seq, pieces, size, name,
         mime, updated_at FROM artifacts WHERE id = ?3 AND version = ?4 AND last_seq = ?5 AND state = 'complete' AND run =
           (SELECT source.key FROM runs JOIN runs AS source ON source.id = runs.fork_source
              WHERE runs.key = ?2 AND runs.fork_mode = 'replay' AND runs.fork_seq <= ?5)
         ON CONFLICT DO NOTHING`,
    );
    this.#stored = query(
      db,
      `SELECT json_array(id, version, family, replace(state, 'abandoned', 'open'), first_seq, last_seq, pieces, size, name, mime, updated_at)
         FROM artifacts WHERE run = ? AND pieces > 0 ORDER BY id, version`,
    );
    this.#dropOfRun = db.prepare('DELETE FROM artifacts WHERE run = ? AND pieces > 0');
    this.#cutOpen = db.prepare(
      `UPDATE artifacts SET state = '${CUT}', last_seq = first_seq, pieces = 1, size = 0, updated_at = 0
         WHERE run = ? AND pieces > 0 AND state <> 'complete'`,
    );
    this.#dropOpenShared = db.prepare(
      "DELETE FROM artifacts WHERE run = ? AND pieces > 0 AND state <> 'complete' AND first_seq < ?",
    );
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
  repair(of: ArtifactRun, changes: readonly ArtifactChange[], fork: RunFork | null): boolean {
    const before = this.#stored.all(of.run).join();
    if (changes.length === 0 && before === '') return false;
    const { fromSeq, mode } = fork ?? { fromSeq: 0 };
    const isShared = ({ seq }: ArtifactChange): boolean => seq < fromSeq;
    this.#dropOfRun.run(of.run);
    this.apply(of, changes.filter(isShared));
    if (mode === 'branch') this.#cutOpen.run(of.run);
    this.apply(
      of,
      changes.filter((change) => !isShared(change)),
    );
    if (mode === 'replay') this.#dropOpenShared.run(of.run, fromSeq);
    return this.#stored.all(of.run).join() !== before;
  }

  /** A piece out of order changes nothing: its version never becomes complete. */
  apply({ context, run }: ArtifactRun, changes: readonly ArtifactChange[]): void {
    for (const { artifactId, index, isLast, ...piece } of changes) {
      const state = isLast ? 'complete' : 'open';
      const [newest = 0] = piece.version === null ? (this.#newest.get(context, artifactId) ?? []) : [];
      if (index > 0) {
        const version = piece.version ?? newest;
        const next = [piece.seq, piece.size, piece.at, state, context, artifactId, version, run, index] as const;
        const isNext = Number(this.#goOn.run(...next).changes) > 0;
        // A replay that is cut within a version ends it as its source did.
        if (!isNext && isLast) this.#repeat.run(context, run, artifactId, version, piece.seq);
        continue;
      }
      const version = piece.version ?? newest + 1;
      const [name = null, mime = null] = this.#before.get(context, artifactId, version) ?? [];
      this.#giveUp.run(context, artifactId, version, run);
      const place = [context, artifactId, version, piece.family, run, state, piece.seq, piece.seq] as const;
      this.#begin.run(...place, piece.size, piece.name ?? name, piece.mimeType ?? mime, piece.at);
    }
  }

  /** Gives a fork the versions among the rows before a seq that it shares with a run. */
  share(fork: ArtifactRun & Pick<RunFork, 'mode'>, source: number, beforeSeq: number): void {
    const places = [fork.context, fork.run, source, beforeSeq] as const;
    this.#share.run(...places);
    if (fork.mode === 'branch') this.#shareCut.run(...places);
  }

  /** Removes some versions of a purged run. False when none was left. */
  forgetSome(run: number): boolean {
    return Number(this.#forget.run(run).changes) > 0;
  }
}
