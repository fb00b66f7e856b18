/** A data folder with something in every table, and everything that the ports show of a store; not shipped. */
import { type ContextId, isCairnError, type RunId } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';
import { lease, row, runA, started } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { openSqliteStore } from '../sqlite/folder/open.ts';
import { child, definition, faced, fullFolder, sha256 } from '../sqlite/verify/damaged-folder.kit.ts';

/** Its first run has more rows than a page of a copy. */
export const LONG_ROWS = 1_200;
const long = 'run_long' as RunId;
const halfPurged = 'run_half' as RunId;
const bare = 'run_bare' as RunId;
const runIds = [runA, child, long, halfPurged, bare, ...['run_s', 'run_g', 'run_g.1', 'run_f', 'run_l']] as RunId[];
const others = ['run_pf', 'run_i'] as RunId[];
const contextIds = [
  'ctx_one',
  ...[long, halfPurged, bare, ...runIds, ...others].map((id) => `ctx_${id}`),
] as ContextId[];

const key = { tenant: 't', endpoint: 'POST /v1/runs', key: 'k\u00001' };
const record = { ...key, requestDigest: 'd', state: 'completed' as const, owner: null, until: null, status: 201 };

/** Also texts that Postgres cannot keep as they are, a run that is being purged, and a fork without own rows. */
export async function everythingFolder(): Promise<string> {
  const folder = await fullFolder();
  const store = await openSqliteStore({ folder });
  const create = (runId: RunId, tenant = 't') => ({
    tenant,
    contextId: `ctx_${runId}` as ContextId,
    originRunId: runId,
  });
  const note = (i: number) =>
    row('log.appended', { payload: JSON.stringify({ text: `note ${i} \u0000 \u0001 é 🪨` }) });
  const idempotency = [{ record: { ...record, headers: '{}', body: '{"a":"\u0000"}', at: 7 }, owner: null }];
  await store.log.append({
    runId: long,
    create: create(long, 'other'),
    rows: faced(long, [
      started({
        definitionHash: sha256(definition),
        contextId: `ctx_${long}`,
        owner: { tenant: 'other', principal: 'ada' },
        inputs: { big: 'x'.repeat(9_000) },
        flat: Object.fromEntries(flat()),
      }),
    ]),
    claim: lease('node-1'),
    idempotency,
  });
  for (let from = 1; from < LONG_ROWS; from += 100)
    await store.log.append({ runId: long, rows: Array.from({ length: 100 }, (_, i) => note(from + i)) });
  await store.log.append({ runId: long, rows: [note(0)], fence: 1, rest: { wakeAt: 123_456 } });
  await store.log.append({
    runId: halfPurged,
    create: create(halfPurged),
    rows: [started(), ...Array.from({ length: 300 }, (_, i) => note(i)), row('run.completed')],
  });
  await store.log.fork({
    ...create(bare),
    originRunId: 'run_s' as RunId,
    runId: bare,
    fork: { sourceRunId: 'run_s' as RunId, fromSeq: 1, mode: 'branch' },
    at: 2_000,
  });
  await store.purges.retire(halfPurged, 9_500);
  for (let i = 0; i < 3; i += 1) await store.purges.purgeSome(halfPurged);
  await records(store);
  await store.facts.saveHostId('host/1');
  await store.facts.saveKeyId('key-id');
  await store.close();
  return folder;
}

const flat = () => Array.from({ length: 900 }, (_, i) => [`name${i}`, i] as const);

async function records(store: Store): Promise<void> {
  const pack = { tenant: 't', name: 'p', version: '1.0.0', hash: 'h', installedAt: 1, body: '{}' };
  await store.packs.put(pack);
  await store.packs.put({ ...pack, name: 'q' });
  await store.packs.drop('t', 'q');
  const hook = { id: 'sub_1', tenant: 't', kind: 'webhook', body: '{"url":"x"}', state: '' };
  await store.subscriptions.put(hook);
  await store.subscriptions.saveState('sub_1', '{"at":5}', 9);
  const credential = { tenant: 't', principal: 'ada', provider: 'git', scopes: ['a'], sealed: 's', storedAt: 4 };
  await store.credentials.put({ ...credential, ref: 'cred_1', expiresAt: null });
  await store.credentials.begin({ state: 'st', request: 'req', sealed: 'x', expiresAt: 99_999 }, 1);
  const session = { kind: 'ended-session', name: 'n', owner: 't', body: 'b', expiresAt: 50_000.5 };
  await store.expiring.put(session, { now: 1, maxOfOwner: 10 });
  await store.checkpoints.putPosition('webhooks', '42');
  await store.checkpoints.put({ runId: long, seq: 100, format: 'state/1', body: '{"state":"\u0000"}' });
  await store.blobs.put({ tenant: 't', bytes: Uint8Array.from({ length: 70_000 }, (_, i) => i % 251), at: 3 });
}

/** Everything that callers of the ports see. Nothing of it is changed, but what only one caller gets is taken. */
export async function viewOf(store: Store): Promise<Readonly<Record<string, unknown>>> {
  const { log, changes, runIndex, contexts } = store;
  const view: Record<string, unknown> = {
    lastCursor: await changes.lastCursor(),
    depth: await store.queue.depth(200_000),
    due: await store.queue.due(),
    workflows: await store.definitions.workflows('t'),
    packs: await store.packs.list('t'),
    subscriptions: await store.subscriptions.list('webhook'),
    credentials: await store.credentials.list('t', 'ada'),
    idempotency: await store.idempotency.get(key),
    expiring: await store.expiring.get({ kind: 'ended-session', name: 'n' }, 1),
    position: await store.checkpoints.position('webhooks'),
    unfinished: await store.purges.unfinished(10),
    changes: await changes.read({ after: '0', limit: 2_000, filter: null }).then(({ rows }) => rows),
  };
  for (const tenant of ['t', 'other']) {
    view[`${tenant} runs`] = (await runIndex.list({ tenant, limit: 100 })).runs;
    view[`${tenant} tagged`] = (await runIndex.list({ tenant, tag: 'red', limit: 100 })).runs;
    view[`${tenant} pending`] = await runIndex.pending({ tenant, limit: 100 }).then(({ interrupts }) => interrupts);
    view[`${tenant} bytes`] = [await runIndex.tenantLogBytes(tenant), await store.blobs.tenantBytes(tenant)];
    const notes = { tenant, memoryRef: 'notes', now: 1, limit: 50 };
    view[`${tenant} memories`] = [await store.memories.list(notes), await store.memories.search(notes, 'content m1')];
    view[`${tenant} tagged memories`] = await store.memories.list({ ...notes, tag: 'x' });
  }
  for (const runId of [...runIds, ...others]) {
    view[runId] = {
      head: await log.head(runId),
      purged: await log.purged(runId),
      rows: await orRefusal(rowsOf(store, runId)),
      interrupts: await runIndex.interrupts(runId),
      checkpoint: await store.checkpoints.get(runId),
      size: await store.retention.size(runId, -1),
      children: await store.retention.children(runId, null, 10),
      forks: await store.retention.forks(runId, 10),
    };
  }
  for (const contextId of contextIds) {
    view[contextId] = {
      tenant: await contexts.tenant(contextId),
      head: await contexts.head(contextId),
      rows: await orRefusal(log.read({ contextId, afterCursor: 0, limit: 3_000 })),
      runs: (await contexts.runs({ contextId, limit: 50 })).runs,
      open: await contexts.oldestOpen(contextId),
      artifacts: await store.artifacts.list(contextId, { limit: 10 }),
    };
  }
  return view;
}

async function rowsOf({ log }: Store, runId: RunId): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await log.read({ runId, after: rows.length - 1, limit: 500 });
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

/** Rows of a fork may be gone; then both stores say so. */
const orRefusal = (rows: Promise<readonly Row[]>): Promise<unknown> =>
  rows.catch((error: unknown) => {
    if (!isCairnError(error, 'run_purged')) throw error;
    return error.message;
  });
