/** Definitions, workflow names and checkpoints in SQLite, beside what has files of its own; writes share the log's transactions. */
import type { DatabaseSync } from 'node:sqlite';
import type { Checkpoint } from '../ports/checkpoints.ts';
import type { WorkflowRecord } from '../ports/definitions.ts';
import type { Records } from '../ports/store.ts';
import { versionTaken } from '../refusals.ts';
import type { GroupCommit, Read } from './group-commit.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqlitePacks } from './packs.ts';
import { sqliteRemembered } from './remembered.ts';
import { sqliteSubscriptions } from './subscriptions.ts';

const NAMES_KEPT = 1_000;

const WORKFLOW = 'tenant, id AS workflowId, version, hash, registered_at AS registeredAt';

export function sqliteRecords(db: DatabaseSync, writer: GroupCommit, read: Read): Records {
  return {
    ...definitions(db, writer, read),
    ...workflows(db, writer, read),
    ...states(db, writer, read),
    ...sqliteSubscriptions(db, writer, read),
    ...sqlitePacks(db, writer, read),
    ...sqliteIdempotency(db, writer, read),
    ...sqliteRemembered(db, read),
  };
}

function definitions(db: DatabaseSync, writer: GroupCommit, read: Read) {
  const put = db.prepare('INSERT INTO definitions VALUES (?, ?) ON CONFLICT DO NOTHING');
  const get = db.prepare('SELECT body FROM definitions WHERE hash = ?');
  return {
    putDefinition: (hash: string, body: string) =>
      writer.submit({ rows: 1, bytes: body.length, apply: () => void put.run(hash, body) }),
    definition: async (hash: string) => read(() => (get.get(hash)?.body as string | undefined) ?? null),
  };
}

function workflows(db: DatabaseSync, writer: GroupCommit, read: Read) {
  const put = db.prepare('INSERT INTO workflows VALUES (NULL, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const one = db.prepare(`SELECT ${WORKFLOW} FROM workflows WHERE tenant = ? AND id = ? AND version = ?`);
  const newestOf = db.prepare(
    `SELECT ${WORKFLOW} FROM workflows WHERE tenant = ? AND id = ? ORDER BY place DESC LIMIT 1`,
  );
  const all = db.prepare(
    `SELECT ${WORKFLOW} FROM workflows WHERE place IN
       (SELECT max(place) FROM workflows WHERE tenant = ? GROUP BY id) ORDER BY id`,
  );
  /** The newest version of the names asked for, which every start of a run asks for; only this process writes them. */
  const newest = new Map<string, WorkflowRecord | null>();
  const last = (tenant: string, id: string): WorkflowRecord | null => {
    const name = JSON.stringify([tenant, id]);
    const known = newest.get(name);
    if (known !== undefined) return known;
    if (newest.size === NAMES_KEPT) newest.clear();
    const found = record(newestOf.get(tenant, id));
    newest.set(name, found);
    return found;
  };
  const record = (found: Record<string, unknown> | undefined): WorkflowRecord | null =>
    found === undefined ? null : ({ ...found } as unknown as WorkflowRecord);
  return {
    putWorkflow: (workflow: WorkflowRecord) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        prepare: () => {
          const known = record(one.get(workflow.tenant, workflow.workflowId, workflow.version));
          if (known !== null && known.hash !== workflow.hash) throw versionTaken(workflow, known.hash);
        },
        apply: () => {
          const { tenant, workflowId, version, hash, registeredAt } = workflow;
          newest.clear();
          put.run(tenant, workflowId, version, hash, registeredAt);
        },
      }),
    workflow: async (tenant: string, id: string, version?: string) =>
      read(() => (version === undefined ? last(tenant, id) : record(one.get(tenant, id, version)))),
    workflows: async (tenant: string) => read(() => all.all(tenant).map((found) => record(found)!)),
  };
}

function states(db: DatabaseSync, writer: GroupCommit, read: Read) {
  const put = db.prepare(
    `INSERT INTO checkpoints VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE
       SET seq = excluded.seq, format = excluded.format, body = excluded.body WHERE excluded.seq >= checkpoints.seq`,
  );
  const get = db.prepare('SELECT run AS runId, seq, format, body FROM checkpoints WHERE run = ?');
  const setMark = db.prepare(
    'INSERT INTO marks VALUES (?, ?) ON CONFLICT (reader) DO UPDATE SET position = excluded.position',
  );
  const getMark = db.prepare('SELECT position FROM marks WHERE reader = ?');
  const found = <Kept>(columns: Record<string, unknown> | undefined): Kept | null =>
    columns === undefined ? null : ({ ...columns } as Kept);
  return {
    putCheckpoint: ({ runId, seq, format, body }: Checkpoint) =>
      writer.submit({ rows: 1, bytes: body.length, apply: () => void put.run(runId, seq, format, body) }),
    checkpoint: async (runId: string) => read(() => found<Checkpoint>(get.get(runId))),
    mark: async (reader: string) => read(() => (getMark.get(reader)?.position as string | undefined) ?? null),
    putMark: (reader: string, position: string) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => void setMark.run(reader, position) }),
  };
}
