/** Compares the index of artifacts with the events that wrote them. */
import type { DatabaseSync } from 'node:sqlite';
import { artifactChanges } from '../../artifact-changes.ts';
import type { Row } from '../../ports/rows.ts';
import type { RunFork } from '../../ports/run-index.ts';
import { CUT } from '../artifacts/artifact-tables.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

/** The run whose rows are walked. */
export interface ArtifactOwner {
  readonly key: number;
  readonly contextId: string;
  readonly fork: RunFork | null;
  /** Rows of another host are taken as they are, so that not every piece of them is part of a version. */
  readonly isImported: boolean;
}

export interface ArtifactCheck {
  /** A new walk over all rows of a run, shared ones among them. */
  walk(run: ArtifactOwner, report: ReportProblem): { add(row: Row): void; end(): void };
}

/** A version as the rows of one run tell it. Memory grows with the versions of a run, not with their pieces. */
interface Version {
  readonly artifactId: string;
  /** Null in rows of other hosts: the store has counted. */
  readonly version: number | null;
  readonly family: string;
  readonly firstSeq: number;
  lastSeq: number;
  pieces: number;
  size: number;
  readonly name: string | null;
  readonly mimeType: string | null;
  updatedAt: number;
  state: 'open' | 'complete' | typeof CUT;
}

type Stored = [
  context: string,
  id: string,
  version: number,
  family: string,
  state: string,
  firstSeq: number,
  lastSeq: number,
  pieces: number,
  size: number,
  name: string | null,
  mime: string | null,
  updatedAt: number,
];

type Described = [name: string | null, mime: string | null];

export function artifactCheck(db: DatabaseSync): ArtifactCheck {
  const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'artifacts'").get() !== undefined;
  if (!hasTable) return { walk: () => ({ add: () => undefined, end: () => undefined }) };
  const stored = query<Stored>(
    db,
    `SELECT context, id, version, family, state, first_seq, last_seq, pieces, size, name, mime, updated_at FROM artifacts
       WHERE run = ? AND (pieces > 0 OR state NOT IN ('claimed', 'abandoned'))`,
  );
  const before = query<Described>(
    db,
    `SELECT name, mime FROM artifacts WHERE context = ? AND id = ? AND version < ? AND pieces > 0
       ORDER BY version DESC LIMIT 1`,
  );
  const hasPurged = query<[number]>(db, 'SELECT 1 FROM purged_runs WHERE context = ? LIMIT 1');
  /** What a version without a name of its own has: that of the version before, which other runs may have written. */
  const inherited = ({ contextId, fork }: ArtifactOwner, one: Version, version: number): Described | null => {
    const isShared = fork !== null && one.firstSeq < fork.fromSeq;
    if (isShared || hasPurged.get(contextId) !== undefined) return null;
    return before.get(contextId, one.artifactId, version) ?? [null, null];
  };
  return {
    walk(run, report) {
      const versions = new Versions(run.fork);
      return {
        add: (row) => versions.add(row),
        end() {
          const left = versions.byFirstSeq();
          for (const found of stored.iterate(run.key)) {
            const [, id, version, , , firstSeq] = found;
            const one = left.get(firstSeq);
            left.delete(firstSeq);
            const isRight = one !== undefined && isSame(one, run.contextId, found);
            const [name, mime] = one === undefined ? [] : (inherited(run, one, version) ?? [found[9], found[10]]);
            if (!isRight || (one.name ?? name) !== found[9] || (one.mimeType ?? mime) !== found[10])
              report(
                firstSeq,
                `the index has other values for version ${version} of the artifact ${JSON.stringify(id)}`,
              );
          }
          if (run.isImported) return;
          // An earlier version of the host did not note what a cut left open.
          for (const { firstSeq, artifactId, state } of left.values())
            if (state !== CUT)
              report(firstSeq, `the index lacks a version of the artifact ${JSON.stringify(artifactId)}`);
        },
      };
    },
  };
}

function isSame(one: Version, contextId: string, found: Stored): boolean {
  const [context, id, version, family, state, , lastSeq, pieces, size, , , updatedAt] = found;
  // No row tells whether an incomplete version was given up.
  const isKnown = state === one.state || (state === 'abandoned' && one.state === 'open');
  const told = [contextId, one.artifactId, one.version ?? version, one.family, one.lastSeq, one.pieces, one.size];
  const kept = [context, id, version, family, lastSeq, pieces, size];
  return isKnown && updatedAt === one.updatedAt && told.every((value, i) => value === kept[i]);
}

/** Folds the versions of a run. A fork has those that were complete at its cut; a replay also ends the others. */
class Versions {
  readonly #fork: RunFork | null;
  readonly #all = new Map<string, Version>();
  /** The newest version of each artifact, while it is open. */
  readonly #open = new Map<string, Version>();

  constructor(fork: RunFork | null) {
    this.#fork = fork;
  }

  add(row: Row): void {
    for (const { artifactId, version, index, isLast, ...piece } of artifactChanges([row])) {
      const state = isLast ? 'complete' : 'open';
      const open = this.#open.get(artifactId);
      if (index === 0) {
        const place = JSON.stringify([artifactId, version, version ?? row.seq]);
        const before = this.#all.get(place);
        if (before !== undefined && !this.#isCut(before)) continue;
        const { family, size, name, mimeType } = piece;
        const begun = { artifactId, version, family, size, name, mimeType, state } as const;
        const one: Version = { ...begun, firstSeq: row.seq, lastSeq: row.seq, pieces: 1, updatedAt: row.at };
        this.#all.set(place, one);
        this.#open.set(artifactId, one);
      } else if (open?.pieces === index && (version === null || version === open.version)) {
        const { pieces, size } = open;
        Object.assign(open, {
          pieces: pieces + 1,
          lastSeq: row.seq,
          size: size + piece.size,
          updatedAt: row.at,
          state,
        });
      } else continue;
      if (isLast) this.#open.delete(artifactId);
    }
  }

  /** Whether the cut of a fork left it open. */
  #isCut({ firstSeq, lastSeq, state }: Version): boolean {
    const { fromSeq } = this.#fork ?? { fromSeq: 0 };
    return firstSeq < fromSeq && (state !== 'complete' || lastSeq >= fromSeq);
  }

  byFirstSeq(): Map<number, Version> {
    const versions = new Map<number, Version>();
    for (const one of this.#all.values()) {
      const { firstSeq, state } = one;
      if (!this.#isCut(one)) versions.set(firstSeq, one);
      else if (this.#fork?.mode === 'branch')
        versions.set(firstSeq, { ...one, state: CUT, lastSeq: firstSeq, pieces: 1, size: 0, updatedAt: 0 });
      else if (state === 'complete') versions.set(firstSeq, one);
    }
    return versions;
  }
}
