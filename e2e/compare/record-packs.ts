/**
 * Records the demo packs with their scripted models: agents, tools, handoffs, decisions and questions, exported with
 * both bodies of every row.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { createClient } from '@cairn/client';
import type { Json, JsonObject } from '@cairn/protocol';
import type { createHost } from '../../packages/host/src/index.ts';
import { normalise, type Recorded, type RecordedEvent } from './normalise.ts';

const KEY = 'a-key-for-recording-0001';

/** One run of each pack. */
const plays: readonly { readonly workflowId: string; readonly inputs: JsonObject }[] = [
  { workflowId: 'research-crew', inputs: { topic: 'tidal power' } },
  { workflowId: 'support-triage', inputs: { ticket: 'My invoice is wrong.' } },
  { workflowId: 'code-review', inputs: { title: 'One constant', diff: '+ const a = 1;' } },
  { workflowId: 'newsroom', inputs: { story: 'The new bridge' } },
];

/** Tried in turn on every question. The host refuses answers that do not fit, and records nothing for them. */
const answers: readonly Json[] = [
  { action: 'approve' },
  { answers: { answer: 'without a name' } },
  { answers: { q1: 'without a name' } },
  { answers: { question: 'without a name' } },
];

const PATIENCE_MS = 60_000;

type Load = <Module>(path: string) => Promise<Module>;

export async function recordPacks(checkout: string, load: Load, say: (recorded: Recorded) => void): Promise<void> {
  const { createHost: open } = await load<{ createHost: typeof createHost }>('packages/host/src/index.ts');
  const { createClient: connect } = await load<{ createClient: typeof createClient }>('packages/client/src/index.ts');
  for (const { workflowId, inputs } of plays) {
    const data = await mkdtemp(join(tmpdir(), 'cairn-compare-'));
    // A fixed secret: the initial characters of a known secret affect where a stream is split.
    const masterKey = join(data, 'master.key');
    await writeFile(masterKey, `${Buffer.alloc(32, '~').toString('base64url')}\n`, { mode: 0o600 });
    try {
      const host = await open({
        config: {
          port: 0,
          data,
          masterKey: { file: masterKey },
          keys: [{ key: KEY, tenant: 'crew', principal: 'ada' }],
          packs: { folders: [join(checkout, 'packs')] },
        },
        allowUnsignedPacks: true,
        report: () => undefined,
      });
      const client = connect({ url: host.url ?? '', key: KEY });
      const { runId } = await client.runs.create({ workflowId, inputs });
      await answerAll(client, runId);
      const { runs } = await client.runs.list({ limit: 100 });
      await host.close();
      const bundles: (readonly RecordedEvent[])[] = [];
      for (const run of runs.toReversed()) bundles.push(await bundleOf(checkout, data, run.runId));
      say({ name: `pack ${workflowId}`, lines: normalise(bundles) });
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  }
}

/** Follows the root run to its end and answers every question in the tree, at any depth. */
async function answerAll(client: ReturnType<typeof createClient>, root: string): Promise<void> {
  const stop = new AbortController();
  const answering = (async () => {
    for await (const change of client.inbox.watch({ signal: stop.signal })) {
      const entries = change.type === 'snapshot' ? change.entries : change.type === 'added' ? [change.entry] : [];
      for (const { runId, nodeId } of entries) {
        for (const answer of answers) await client.runs.answer(runId, nodeId, answer).catch(() => undefined);
      }
    }
  })().catch(() => undefined);
  for await (const _ of client.follow(root, { signal: AbortSignal.timeout(PATIENCE_MS) }));
  stop.abort();
  await answering;
}

async function bundleOf(checkout: string, data: string, runId: string): Promise<readonly RecordedEvent[]> {
  const file = join(data, 'bundle.ndjson');
  await rm(file, { force: true });
  const bin = join(checkout, 'packages/host/bin/cairn.mjs');
  await promisify(execFile)(process.execPath, [bin, 'export', runId, '--data', data, '--output', file]);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return lines.map((line): RecordedEvent => JSON.parse(line));
}
