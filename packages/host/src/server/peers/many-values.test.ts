/** A2A peers and MCP servers that send few bytes with very many values. */
import { createClient } from '@cairn/client';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { type Answer, otherPeer, status, task } from '../a2a-client/other-peer.kit.ts';
import { createHostOver } from '../create-host.ts';
import { otherServer } from '../mcp-client/other-server.kit.ts';
import { MAX_JSON_VALUES } from './json-values.ts';

const key = 'a-key-of-enough-characters';
const many: Json = Array.from({ length: MAX_JSON_VALUES }, () => []);
const made = (parts: Json) => ({
  artifactUpdate: { taskId: 'task-1', contextId: 'c', append: true, artifact: { artifactId: 'a', parts } },
});

/** What a peer answers to a message. */
const peers: Readonly<Record<string, (answer: Answer) => void>> = {
  'in-a-result': (answer) => answer.result({ task: { ...task('COMPLETED', 'Done.'), metadata: { many } } }),
  'in-an-update': (answer) => answer.stream().send(made([{ data: many }])),
  'in-many-updates': (answer) => {
    const stream = answer.stream();
    stream.send({ task: task('WORKING') });
    const half = Array.from({ length: MAX_JSON_VALUES / 2 }, () => 1);
    for (let i = 0; i < 3; i++) stream.send(made([{ data: half }]));
    stream.send(status('COMPLETED'));
    stream.end();
  },
};

const calling = (peer: string) =>
  defineWorkflow({
    id: peer,
    version: '1',
    nodes: { ask: { type: 'core.a2a.invoke', config: { peer }, inputs: { message: fixed('Go.') } } },
  });

const callingTool = defineWorkflow({
  id: 'tool',
  version: '1',
  nodes: {
    call: { type: 'core.mcp.toolCall', config: { serverId: 'wide', toolName: 'add', arguments: { a: 1, b: 2 } } },
  },
});

test('end the call with a code, before anything reads them', async () => {
  const opened = await Promise.all(
    Object.entries(peers).map(async ([name, script]) => ({
      name,
      peer: await otherPeer({ script: (_, answer) => script(answer) }),
    })),
  );
  const server = await otherServer({
    intercept: ({ method, id }, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [], structuredContent: { many } } }));
      return true;
    },
  });
  const host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      a2a: { peers: opened.map(({ name, peer }) => ({ name, url: peer.url })) },
      mcp: { servers: [{ id: 'wide', url: server.url }] },
    },
    workflows: [...Object.keys(peers).map(calling), callingTool],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    await Promise.all([server.close(), ...opened.map(({ peer }) => peer.close())]);
  });
  const client = createClient({ url: host.url ?? '', key });
  const ended = await Promise.all(
    [...Object.keys(peers), 'tool'].map(async (workflowId) => {
      const { runId } = await client.runs.create({ workflowId });
      for await (const { type, payload } of client.follow(runId)) {
        if (type === 'agent.toolReturned') return [workflowId, (payload as JsonObject).error];
      }
      return [workflowId, null];
    }),
  );
  const error = (code: string, message: string) => ({ code, message: expect.stringContaining(message) });
  expect(Object.fromEntries(ended)).toMatchObject({
    'in-a-result': error('external_call_failed', `more than ${MAX_JSON_VALUES} values in one message`),
    'in-an-update': error('external_call_failed', `more than ${MAX_JSON_VALUES} values in one message`),
    'in-many-updates': error('external_call_failed', `values in the artifacts of one task`),
    tool: error('tool_failed', `more than ${MAX_JSON_VALUES} values in one message`),
  });
});
