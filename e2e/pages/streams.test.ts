/** Opens the streams of `docs/reference/streams.md`, in order, and holds the page to the events it says come. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { defineWorkflow } from '../../packages/host/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { present } from '../../packages/host/test/kit/present.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/streams.md'), 'utf8');
const exchanges = [...page.matchAll(/```http\nGET (\S+)\n(?:Last-Event-ID: (\d+)\n)?→ (.*)\n```/g)];

const key = 'streams-page-key-0001';
const nothing = defineWorkflow({ id: 'nothing', version: '1', nodes: { only: { type: 'core.noop' } } });

test('every stream on the page shows the events the page says', async () => {
  expect(exchanges).toHaveLength(page.split('```http').length - 1);
  await using host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't' }] },
    workflows: [nothing],
    report: () => undefined,
  });
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'nothing', inputs: {}, options: {} });
  for (const [, path, lastId, events] of exchanges) {
    const answer = await fetch(host.url + present(path).replace('{runId}', runId), {
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
    });
    const names: string[] = [];
    createParser({ onEvent: ({ event }) => names.push(event ?? '') }).feed(await answer.text());
    expect([path, lastId, names.join(', ')]).toEqual([path, lastId, events]);
  }
});
