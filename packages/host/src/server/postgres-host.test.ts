/** Hosts on one PostgreSQL: any node takes any request, and serves any stream. */
import { createClient } from '@cairn/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freshDatabase } from '../log/postgres/server.kit.ts';
import { readConfig } from './config/config-sources.ts';
import { type Host, startHost } from './create-host.ts';
import { chain } from './sample-workflows.kit.ts';

const key = 'a-key-for-these-tests';
const masterKey = 'dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM';

async function node(
  store: string,
  env: Readonly<Record<string, string>> = { CAIRN_MASTER_KEY: masterKey },
): Promise<Host> {
  const config = await readConfig({ env, flags: { port: 0, store, keys: [{ key, tenant: 'a' }] } });
  const host = await startHost(config, { report: () => undefined });
  onTestFinished(() => host.close());
  return host;
}

const clientOf = ({ url }: Host) => createClient({ url: url ?? '', key });

test('lets a run begin on one node, be answered on another, and be followed from both', async () => {
  const store = await freshDatabase();
  const [one, two] = [await node(store), await node(store)];
  const [a, b] = [clientOf(one), clientOf(two)];
  const gate = { typeId: 'core.approvalGate', config: { title: 'Go on?' } };
  await a.workflows.register(chain('w', { typeId: 'core.noop' }, gate, { typeId: 'core.noop' }));
  const { runId } = await a.runs.create({ workflowId: 'w' });
  const seen = async (client: typeof a): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { sequence, type } of client.follow(runId)) {
      types.push(`${sequence} ${type}`);
      if (type === 'interrupt.requested' && client === b) {
        const [question] = await b.interrupts.ofRun(runId);
        await b.runs.answer(runId, question?.nodeId ?? '', { action: 'accept' });
      }
    }
    return types;
  };
  const [first, second] = await Promise.all([seen(a), seen(b)]);
  expect(first.at(-1)).toContain('run.completed');
  expect(second).toEqual(first);
  expect(first.map((line) => Number(line.split(' ')[0]))).toEqual(first.map((_, i) => i));
}, 60_000);

test('needs the same master key on every node', async () => {
  const store = await freshDatabase();
  await node(store);
  const other = Buffer.alloc(32, 7).toString('base64url');
  await expect(node(store, { CAIRN_MASTER_KEY: other })).rejects.toMatchObject({ code: 'host_key_lost' });
  await expect(node(store, {})).rejects.toMatchObject({ code: 'config_invalid' });
}, 60_000);

test('starts only with the time of the database, so that no node takes the runs of others before their lease ends', async () => {
  const store = await freshDatabase();
  const at = Date.now();
  for (const [ms, words] of [
    [120_000, / [\d.]+ s ahead of that of its database/],
    [-120_000, / [\d.]+ s behind that of its database/],
  ] as const) {
    vi.useFakeTimers({ toFake: ['Date'], now: at + ms });
    onTestFinished(() => void vi.useRealTimers());
    await expect(node(store)).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringMatching(words) });
    vi.useRealTimers();
  }
  await node(store);
}, 60_000);
