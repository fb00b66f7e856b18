/** Reads and claims of artifacts in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import { invariant, type RunId } from '@cairn/protocol';
import { claimedVersion, type NewestVersion } from '../../artifact-changes.ts';
import type { ArtifactClaim, ArtifactState, ArtifactSummary, Artifacts } from '../../ports/artifacts.ts';
import { type ArtifactColumns, artifactVersionOf } from '../../record-columns.ts';
import type { HeadCache } from '../append/head-cache.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import { CUT } from './artifact-tables.ts';

/** A version of a run that ended before it was complete is abandoned. */
const COLUMNS = `a.id, a.version, a.family, runs.id,
  CASE WHEN a.state = '${CUT}' OR a.state IN ('open', 'claimed') AND runs.ended_at IS NOT NULL THEN 'abandoned'
    ELSE a.state END AS state,
  a.first_seq, a.last_seq, a.size, a.name, a.mime, a.updated_at`;
const FROM = 'FROM artifacts a JOIN runs ON runs.key = a.run';

interface ArtifactPorts extends Connection {
  readonly heads: HeadCache;
}

export function sqliteArtifacts({ db, writer, read, heads }: ArtifactPorts): Artifacts {
  const one = query<ArtifactColumns>(
    db,
    `SELECT ${COLUMNS} ${FROM} WHERE a.context = ? AND a.id = ? AND a.version = ?`,
  );
  const newestOf = (state: string) =>
    query<ArtifactColumns>(
      db,
      `SELECT ${COLUMNS} ${FROM} WHERE a.context = ? AND a.id = ? AND a.state = '${state}' ORDER BY a.version DESC LIMIT 1`,
    );
  const [complete, open] = [newestOf('complete'), newestOf('open')];
  const ids = query<[id: string]>(
    db,
    `SELECT DISTINCT a.id ${FROM} WHERE a.context = ? AND a.id > ?
       AND (a.state = 'complete' OR a.state = 'open' AND runs.ended_at IS NULL) ORDER BY a.id LIMIT ?`,
  );
  const summaryOf = (contextId: string, id: string): ArtifactSummary => {
    const [current, writing] = [complete.get(contextId, id), open.get(contextId, id)];
    const version = writing === undefined ? null : artifactVersionOf(writing);
    return {
      current: current === undefined ? null : artifactVersionOf(current),
      open: version?.state === 'open' ? version : null,
    };
  };
  const claims = claimStatements(db, heads, (contextId, id) => complete.get(contextId, id)?.[1] ?? 0);
  return {
    claim: (claim) => writer.submit(claims.claim(claim)),
    abandon: (claim) => writer.submit({ rows: 1, bytes: 0, apply: () => claims.abandon(claim) }),
    list: async (contextId, { after = '', limit }) =>
      read(() => ids.all(contextId, after, limit).map(([id]) => summaryOf(contextId, id))),
    summary: async (contextId, artifactId) =>
      read(() => {
        const found = summaryOf(contextId, artifactId);
        return found.current === null && found.open === null ? null : found;
      }),
    get: async (contextId, artifactId, version) =>
      read(() => {
        const found =
          version === undefined ? complete.get(contextId, artifactId) : one.get(contextId, artifactId, version);
        return found === undefined ? null : artifactVersionOf(found);
      }),
  };
}

function claimStatements(db: DatabaseSync, heads: HeadCache, currentOf: (context: string, id: string) => number) {
  const newest = query<[version: number, state: ArtifactState, runId: RunId, life: string | null, call: string | null]>(
    db,
    `SELECT a.version, replace(a.state, '${CUT}', 'abandoned'), runs.id, a.life, a.call ${FROM} WHERE a.context = ? AND a.id = ? ORDER BY a.version DESC LIMIT 1`,
  );
  const insert = db.prepare(
    `INSERT INTO artifacts (context, id, version, family, run, life, call, state, first_seq, last_seq, pieces, size, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'claimed', -1, -1, 0, 0, ?)
       ON CONFLICT (context, id, version) DO UPDATE SET life = excluded.life, call = excluded.call`,
  );
  const drop = db.prepare(
    `UPDATE artifacts SET state = 'abandoned' WHERE context = ? AND id = ? AND run = ? AND life = ? AND call = ?
       AND state IN ('open', 'claimed')`,
  );
  const newestOf = ({ contextId, artifactId }: ArtifactClaim): NewestVersion | null => {
    const [version, state, runId, life, callId] = newest.get(contextId, artifactId) ?? [];
    if (version === undefined || state === undefined || runId === undefined) return null;
    // The table may lag behind a run that ended in this transaction.
    const hasRunEnded = heads.get(runId)?.head.record.endedAt !== null;
    const writer = life === null || life === undefined ? null : { life, callId: callId ?? '' };
    return { version, state, runId, hasRunEnded, writer };
  };
  return {
    claim: (claim: ArtifactClaim) => {
      let version = 0;
      return {
        rows: 1,
        bytes: 0,
        prepare: () => {
          const { contextId, artifactId } = claim;
          version = claimedVersion(claim, newestOf(claim), currentOf(contextId, artifactId));
        },
        apply: () => {
          const { contextId, artifactId, family, runId, writer, at } = claim;
          const entry = heads.get(runId);
          invariant(entry !== null, 'claim-has-run', { runId });
          insert.run(contextId, artifactId, version, family, entry.key, writer.life, writer.callId, at);
          return version;
        },
      };
    },
    abandon: ({
      contextId,
      artifactId,
      runId,
      writer,
    }: Pick<ArtifactClaim, 'contextId' | 'artifactId' | 'runId' | 'writer'>) => {
      const entry = heads.get(runId);
      if (entry !== null) drop.run(contextId, artifactId, entry.key, writer.life, writer.callId);
    },
  };
}
