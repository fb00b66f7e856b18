/** Checks the definitions that a run is pinned to: each is stored, and matches its hash. */
import { hash as digest } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { pinnedDefinitions } from '../../pinned-definitions.ts';
import type { Row } from '../../ports/rows.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

export interface DefinitionCheck {
  /** The definitions of a run, by its first row. */
  ofRun(row: Row, report: ReportProblem): void;
  /** Every definition, and those that registered workflows name. */
  all(report: ReportProblem): void;
}

/** Runs of one workflow share a definition, so the newest results are kept. */
const KEPT_RESULTS = 10_000;

export function definitionCheck(db: DatabaseSync): DefinitionCheck {
  const one = query<[body: string]>(db, 'SELECT body FROM definitions WHERE hash = ?');
  const every = query<[hash: string, body: string]>(db, 'SELECT hash, body FROM definitions');
  const unknown = query<[id: string, version: string]>(
    db,
    'SELECT id, version FROM workflows WHERE hash NOT IN (SELECT hash FROM definitions)',
  );
  const known = new Map<string, string | null>();
  const wrong = (hash: string): string | null => {
    const found = known.get(hash);
    if (found !== undefined) return found;
    const [body] = one.get(hash) ?? [];
    const problem =
      body === undefined
        ? `the definition ${hash} is missing`
        : digest('sha256', body, 'hex') === hash
          ? null
          : `the definition ${hash} does not match its hash`;
    if (known.size >= KEPT_RESULTS) known.clear();
    known.set(hash, problem);
    return problem;
  };
  return {
    ofRun(row, report) {
      for (const hash of pinnedDefinitions(JSON.parse(row.payload)).hashes) {
        const problem = wrong(hash);
        if (problem !== null) report(0, `${problem}; the run is pinned to it`);
      }
    },
    all(report) {
      for (const [hash, body] of every.iterate())
        if (digest('sha256', body, 'hex') !== hash) report(null, `the definition ${hash} does not match its hash`);
      for (const [id, version] of unknown.iterate())
        report(null, `the workflow ${JSON.stringify(id)} ${version} has no definition`);
    },
  };
}
