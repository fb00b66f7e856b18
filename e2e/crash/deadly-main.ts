/** The process of the quarantine tests: an engine on a real database, with a node that ends the process. Driven over IPC. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import { anyConfig } from '../../packages/host/src/engine/nodes/config-fields.ts';
import { createEngine } from '../../packages/host/src/engine/stepping/runtime.ts';
import { defineNodeType } from '../../packages/host/src/engine/workflow/node-type.ts';
import { openSqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { elapsedMs, sha256, systemClock, systemEventLoop, uniqueId } from '../../packages/host/src/server/compose.ts';
import { openCrashRecord } from '../../packages/host/src/server/crashes/crash-record.ts';

export type ToDeadly = { readonly start: WorkflowDefinition } | { readonly snapshot: RunId } | 'stop';
export type FromDeadly =
  | { readonly kind: 'opened'; readonly notices: readonly string[] }
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
const folder = process.argv[2] ?? '';
const tell = (message: FromDeadly) => process.send?.(message);

const store = await openSqliteStore({ folder, elapsedMs });
const crashes = openCrashRecord(folder, { eventLoop: systemEventLoop, failed: (error) => notices.push(String(error)) });
const engine = createEngine({
  store,
  crashes,
  clock: systemClock,
  eventLoop: systemEventLoop,
  uniqueId,
  sha256,
  owner: uniqueId(),
  steps: [step],
  nodeTypes: [deadly],
  limits: { maxNodeExecutions: 1_000_000, maxRunDurationMs: null },
  report: ({ event, facts }) => notices.push(`${event} ${facts?.runId}`),
});

process.on('message', async (message: ToDeadly) => {
  if (message === 'stop') {
    await engine.close();
    crashes.close();
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

await engine.open();
tell({ kind: 'opened', notices });
