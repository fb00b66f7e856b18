/** Reads and claims of artifacts in Postgres. A claim locks the context, as an append does. */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import { claimedVersion, type NewestVersion } from '../../artifact-changes.ts';
import type {
  ArtifactClaim,
  ArtifactState,
  ArtifactSummary,
  Artifacts,
  ArtifactVersion,
} from '../../ports/artifacts.ts';
import { type ArtifactColumns, artifactVersionOf } from '../../record-columns.ts';
import type { Database, Queries, Value } from '../database.ts';
import type { Readers } from '../readers.ts';

/** A version of a run that ended before it was complete is abandoned; so is one that the cut of a branch left open. */
const COLUMNS = `a.id, a.version, a.family, r.id,
  CASE WHEN a.state = 'cut' OR a.state IN ('open', 'claimed') AND r.ended_at IS NOT NULL THEN 'abandoned'
    ELSE a.state END, a.first_seq, a.last_seq, a.size, a.name, a.mime, a.updated_at`;
const FROM = 'FROM cairn.artifacts a JOIN cairn.runs r ON r.key = a.run';

const newestWith = (state: ArtifactState): string =>
  `(SELECT * FROM cairn.artifacts WHERE context = $1::text AND id = i.id AND state = '${state}' ORDER BY version DESC LIMIT 1)`;

/** The current and the open version of each artifact, one after the other: an overview looks at hundreds of contexts. */
const LIST = `SELECT ${COLUMNS} FROM (
    SELECT DISTINCT a.id ${FROM} WHERE a.context = $1::text AND a.id > $2::text
      AND (a.state = 'complete' OR a.state = 'open' AND r.ended_at IS NULL) ORDER BY a.id LIMIT $3::bigint) i
  CROSS JOIN LATERAL (${newestWith('complete')} UNION ALL ${newestWith('open')}) a
  JOIN cairn.runs r ON r.key = a.run ORDER BY a.id`;

export function postgresArtifacts(database: Database, readers: Readers): Artifacts {
  return {
    claim: (claim) => database.transaction((queries) => claimVersion(queries, claim)),
    abandon: ({ contextId, artifactId, runId, writer }) =>
      database.transaction(async (queries) => {
        await lockContext(queries, contextId);
        await queries.changed(
          `UPDATE cairn.artifacts SET state = 'abandoned' WHERE context = $1::text AND id = $2::text
             AND run = (SELECT key FROM cairn.runs WHERE id = $3::text) AND life = $4::text AND call = $5::text
             AND state IN ('open', 'claimed')`,
          [contextId, artifactId, runId, writer.life, writer.callId],
        );
      }),
    list: async (contextId, { after = '', limit }) =>
      summaries(
        (await readers.of(contextId).rows<ArtifactColumns>(LIST, [contextId, after, limit])).map(artifactVersionOf),
      ),
    summary: async (contextId, artifactId) => {
      const found = await summaryOf(readers.of(contextId), contextId, artifactId);
      return found.current === null && found.open === null ? null : found;
    },
    get: (contextId, artifactId, version) =>
      version === undefined
        ? newest(readers.of(contextId), contextId, artifactId, 'complete')
        : one(readers.of(contextId), 'a.version = $3::bigint', [contextId, artifactId, version]),
  };
}

/** Of versions in the order of their artifacts. */
function summaries(versions: readonly ArtifactVersion[]): readonly ArtifactSummary[] {
  const found = new Map<string, ArtifactSummary>();
  for (const version of versions) {
    const { current, open } = found.get(version.artifactId) ?? { current: null, open: null };
    found.set(version.artifactId, {
      current: version.state === 'complete' ? version : current,
      open: version.state === 'open' ? version : open,
    });
  }
  return [...found.values()];
}

async function one(queries: Queries, where: string, values: readonly Value[]): Promise<ArtifactVersion | null> {
  const [found] = await queries.rows<ArtifactColumns>(
    `SELECT ${COLUMNS} ${FROM} WHERE a.context = $1::text AND a.id = $2::text AND ${where} ORDER BY a.version DESC LIMIT 1`,
    values,
  );
  return found === undefined ? null : artifactVersionOf(found);
}

const newest = (
  queries: Queries,
  contextId: ContextId,
  artifactId: string,
  state: ArtifactState,
): Promise<ArtifactVersion | null> => one(queries, 'a.state = $3::text', [contextId, artifactId, state]);

async function summaryOf(queries: Queries, contextId: ContextId, id: string): Promise<ArtifactSummary> {
  const [current, open] = await Promise.all([
    newest(queries, contextId, id, 'complete'),
    newest(queries, contextId, id, 'open'),
  ]);
  return { current, open: open?.state === 'open' ? open : null };
}

async function lockContext(queries: Queries, contextId: ContextId): Promise<void> {
  await queries.changed('UPDATE cairn.contexts SET edition = edition + 1 WHERE id = $1::text', [contextId]);
}

async function claimVersion(queries: Queries, claim: ArtifactClaim): Promise<number> {
  const { contextId, artifactId, family, runId, writer, at } = claim;
  await lockContext(queries, contextId);
  const current = (await newest(queries, contextId, artifactId, 'complete'))?.version ?? 0;
  const version = claimedVersion(claim, await newestVersion(queries, claim), current);
  const added = await queries.changed(
    `INSERT INTO cairn.artifacts (context, id, version, family, run, life, call, state, first_seq, last_seq, pieces, size,
         updated_at)
       SELECT $1::text, $2::text, $3::bigint, $4::text, key, $6::text, $7::text, 'claimed', -1, -1, 0, 0, $8::bigint
         FROM cairn.runs WHERE id = $5::text
       ON CONFLICT (context, id, version) DO UPDATE SET life = excluded.life, call = excluded.call`,
    [contextId, artifactId, version, family, runId, writer.life, writer.callId, at],
  );
  invariant(added > 0, 'claim-has-run', { runId });
  return version;
}

async function newestVersion(
  queries: Queries,
  { contextId, artifactId }: ArtifactClaim,
): Promise<NewestVersion | null> {
  const [found] = await queries.rows<
    [version: number, state: ArtifactState, runId: RunId, hasEnded: boolean, life: string | null, call: string | null]
  >(
    `SELECT a.version, replace(a.state, 'cut', 'abandoned'), r.id, r.ended_at IS NOT NULL, a.life, a.call ${FROM}
       WHERE a.context = $1::text AND a.id = $2::text ORDER BY a.version DESC LIMIT 1`,
    [contextId, artifactId],
  );
  if (found === undefined) return null;
  const [version, state, runId, hasRunEnded, life, call] = found;
  return { version, state, runId, hasRunEnded, writer: life === null ? null : { life, callId: call ?? '' } };
}
