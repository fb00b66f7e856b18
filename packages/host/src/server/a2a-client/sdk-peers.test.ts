/** Calls of agents on the published A2A server, of both versions. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { a2aVersions } from '../a2a/versions.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type SdkPeer, sdkPeer } from './sdk-peer.kit.ts';

const key = 'a-key-of-enough-characters';
const peers: SdkPeer[] = [];
const nameOf = (version: string): string => `v${version.replace('.', '-')}`;
let host: Host;
let client: Client;

const saying = (peer: string, message: string) =>
  defineWorkflow({
    id: `${peer}-${message}`,
    version: '1',
    nodes: { ask: { type: 'core.a2a.invoke', config: { peer }, inputs: { message: fixed(message) } } },
  });

beforeAll(async () => {
  for (const version of a2aVersions) peers.push(await sdkPeer(version));
  const names = a2aVersions.map(nameOf);
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'una' }],
      a2a: { peers: names.map((name, i) => ({ name, url: peers[i]?.url ?? '' })) },
    },
    workflows: names.flatMap((name) => ['echo', 'ask', 'wait'].map((message) => saying(name, message))),
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host.close();
  await Promise.all(peers.map((peer) => peer.close()));
});

async function followed(workflowId: string, each: (event: RunEventDoc, runId: string) => Promise<unknown>) {
  const { runId } = await client.runs.create({ workflowId });
  const events: RunEventDoc[] = [];
  for await (const event of client.follow(runId)) {
    events.push(event);
    await each(event, runId);
  }
  return events;
}

const returned = (events: readonly RunEventDoc[]): JsonObject =>
  (events.find(({ type }) => type === 'agent.toolReturned')?.payload ?? {}) as JsonObject;

describe.each(a2aVersions)('a published server of version %s', (version) => {
  test('answers over its stream', async () => {
    const events = await followed(`${nameOf(version)}-echo`, async () => undefined);
    expect(returned(events)).toMatchObject({ outcome: 'echo' });
  });

  test('asks people here, and gets their answer', async () => {
    const events = await followed(`${nameOf(version)}-ask`, async ({ type, payload }, runId) => {
      if (type !== 'interrupt.requested') return;
      await client.runs.answer(runId, String((payload as JsonObject).interruptId), { answers: { answer: 'the left' } });
    });
    expect(returned(events)).toMatchObject({ outcome: 'You answered the left' });
  });

  test('is told when the run here is cancelled', async () => {
    const events = await followed(`${nameOf(version)}-wait`, async ({ type }, runId) => {
      if (type === 'cairn.tool.progress') await client.runs.cancel(runId);
    });
    expect(events.at(-1)).toMatchObject({ type: 'run.cancelled' });
    await peers[a2aVersions.indexOf(version)]?.canceled;
  });
});
