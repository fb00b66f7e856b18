/** The process of the quarantine tests: an engine on a real database, with a node that ends the process. Driven over IPC. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import { anyConfig } from '../../packages/host/src/engine/nodes/config-fields.ts';
import { createEngine } from '../../packages/host/src/engine/stepping/runtime.ts';
import { defineNodeType } from '../../packages/host/src/engine/workflow/node-type.ts';
import { openPostgresStore } from '../../packages/host/src/log/postgres/store.ts';
import { openSqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { elapsedMs, sha256, systemClock, systemEventLoop, uniqueId } from '../../packages/host/src/server/compose.ts';
import { openCrashRecord } from '../../packages/host/src/server/crashes/crash-record.ts';
import { SharedCrashRecord } from '../../packages/host/src/server/crashes/shared-crash-record.ts';

export type ToDeadly = { readonly start: WorkflowDefinition } | { readonly snapshot: RunId } | 'stop';
export type FromDeadly =
  | { readonly kind: 'opened'; readonly notices: readonly string[] }
  /** Nodes that share a store look at runs of dead ones at any time. */
  | { readonly kind: 'noticed'; readonly notice: string }
  | { readonly kind: 'started'; readonly runId: RunId }
  | { readonly kind: 'snapshot'; readonly status: string; readonly code: string | null };

/** Ends the process while the run is decided, after a while, as an operation does that needs more memory than there is. */
const deadly = defineNodeType({
  typeId: 'local.deadly',
  config: anyConfig,
  begin: () => {
    const begun = elapsedMs();
    while (elapsedMs() - begun < 200);
    process.kill(process.pid, 'SIGKILL');
    for (;;);
  },
});

const step = { typeId: 'local.step.quick', safety: 'pure' as const, run: async () => ({ done: true }) };
const notices: string[] = [];
/** A data folder, or the URL of a database that nodes share. */
const folder = process.argv[2] ?? '';
const tell = (message: FromDeadly) => process.send?.(message);

const owner = uniqueId();
const failed = (error: unknown) => void notices.push(String(error));
const isShared = folder.startsWith('postgres:');
const store = isShared
  ? await openPostgresStore({ url: folder, elapsedMs })
  : await openSqliteStore({ folder, elapsedMs });
const crashes = isShared
  ? new SharedCrashRecord({
      ...{ url: folder, owner, expiring: store.expiring, failed },
      now: systemClock.now,
      nextTurn: systemEventLoop.nextTurn,
    })
  : openCrashRecord(folder, { eventLoop: systemEventLoop, failed });
const engine = createEngine({
  store,
  crashes,
  clock: systemClock,
  eventLoop: systemEventLoop,
  uniqueId,
  sha256,
  owner,
  leaseMs: 1_000,
  steps: [step],
  nodeTypes: [deadly],
  limits: { maxNodeExecutions: 1_000_000, maxRunDurationMs: null },
  report: ({ event, facts }) => {
    notices.push(`${event} ${facts?.runId}`);
    if (isShared) tell({ kind: 'noticed', notice: `${event} ${facts?.runId}` });
  },
});

process.on('message', async (message: ToDeadly) => {
  if (message === 'stop') {
    await engine.close();
    await crashes.close();
    await store.close();
    process.exit(0);
  }
  if ('snapshot' in message) {
    const { status, error } = await engine.snapshot('t', message.snapshot);
    tell({ kind: 'snapshot', status, code: error?.code ?? null });
    return;
  }
  const { id: workflowId } = message.start;
  await engine.register('t', message.start);
  const { runId } = await engine.start({ tenant: 't', workflowId, inputs: {}, options: {} });
  tell({ kind: 'started', runId });
});
process.on('disconnect', () => process.exit(0));

await crashes.ready;
await engine.open();
tell({ kind: 'opened', notices });
