/** Every kind of effect that a run can have: the source has it once, and no replay has it again. */
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import type { ContextId, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import type { Store } from '../../log/ports/store.ts';
import { openSuiteStore } from '../../log/postgres/suite-store.kit.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { shown } from './replay-crew.kit.ts';

const key = 'a-key-of-enough-characters';
const data = mkdtempSync(join(tmpdir(), 'cairn-effects-'));
const counts = { model: 0, tool: 0, fetch: 0, step: 0, webhook: 0, callback: 0 };
const deliveries = new EventEmitter();
const arrived = new Set<string>();
let outside: Server;
let host: Host;
let store: Store;
let client: Client;

/** The turns of the model: one call of each built-in tool with an effect, and one of our own. */
const turns = [
  ['openwop_http_fetch', () => ({ url: `${origin()}/fetch` })],
  ['openwop_fs_write', () => ({ path: 'note.txt', text: 'A stone.' })],
  ['openwop_remember', () => ({ content: 'A cairn marks the trail.', in: 'long-term' })],
  ['acme_look', () => ({ n: 1 })],
] as const;

const origin = () => `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;

/** A model over HTTP, as OpenAI's chat completions stream it. */
function modelTurn(index: number): string {
  const turn = turns[index];
  const delta =
    turn === undefined
      ? { content: 'Done.' }
      : {
          tool_calls: [
            {
              index: 0,
              id: `c${index}`,
              type: 'function',
              function: { name: turn[0], arguments: JSON.stringify(turn[1]()) },
            },
          ],
        };
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [choice], ...more })}\n\n`;
  const end = { index: 0, delta: {}, finish_reason: turn === undefined ? 'stop' : 'tool_calls' };
  return `${chunk({ index: 0, delta })}${chunk(end, { usage: { prompt_tokens: 1, completion_tokens: 1 } })}data: [DONE]\n\n`;
}

beforeAll(async () => {
  outside = createServer((request, response) => {
    if (request.url?.endsWith('/chat/completions') === true) {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(modelTurn(counts.model));
      counts.model += 1;
      return;
    }
    const name = request.url?.slice(1) ?? '';
    if (name === 'fetch' || name === 'webhook' || name === 'callback') counts[name] += 1;
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const [, runId = ''] = /"runId":"([^"]*)"/.exec(text) ?? [];
      deliveries.emit(`${name} ${runId}`);
      arrived.add(`${name} ${runId}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  await new Promise<void>((listening) => outside.listen(0, '127.0.0.1', listening));
  store = await openSuiteStore(join(data, 'log'));
  host = await createHostOver(store, {
    config: {
      port: 0,
      data,
      keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }],
      tools: { http: { allow: [origin()] } },
      egress: { allow: [origin()] },
      models: {
        providers: { local: { kind: 'openai-compatible', baseUrl: origin() } },
        default: 'local/m',
      },
    },
    tools: [
      defineTool({
        id: 'acme:look',
        description: 'Looks.',
        input: z.object({ n: z.number() }),
        run: () => {
          counts.tool += 1;
          return 'seen';
        },
      }),
    ],
    agents: [
      defineAgent({
        id: 'host:doer',
        persona: 'Doer',
        instructions: 'Do everything.',
        tools: ['openwop:*', 'acme:look'],
        memory: { longTerm: true },
      }),
    ],
    steps: [
      defineStep({
        name: 'send',
        run: async () => {
          counts.step += 1;
          return {};
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'all',
        version: '1',
        nodes: {
          agent: {
            type: 'cairn.agent',
            agent: { agentId: 'host:doer' },
            inputs: { message: { type: 'static', value: 'Go.' } },
          },
          send: { type: 'local.step.send' },
          wait: { type: 'core.delay', config: { delayMs: 5 } },
          child: { type: 'core.subWorkflow', config: { workflowId: 'below' } },
          ask: { type: 'core.approvalGate', config: { title: 'Well?' } },
        },
        edges: [
          { from: 'agent', to: 'send' },
          { from: 'send', to: 'wait' },
          { from: 'wait', to: 'child' },
          { from: 'child', to: 'ask' },
        ],
      }),
      defineWorkflow({ id: 'below', version: '1', nodes: { n: { type: 'core.noop' } } }),
    ],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host.close();
  outside.closeAllConnections();
  outside.close();
  rmSync(data, { recursive: true, force: true });
});

/** Resolves once this delivery has arrived. */
async function heard(delivery: string): Promise<void> {
  if (!arrived.has(delivery)) await once(deliveries, delivery);
}

async function events(runId: string): Promise<readonly RunEventDoc[]> {
  const rows: RunEventDoc[] = [];
  for await (const row of client.follow(runId)) rows.push(row);
  return rows;
}

let sourceContext = '' as ContextId;

/** Everything that the outside, or another run, can see of the effects so far. */
async function effects() {
  const memories = await store.memories.list({ tenant: 't', memoryRef: 'host:doer', now: 0, limit: 10 });
  const { runs } = await client.runs.list({ limit: 100 });
  return {
    ...counts,
    files: (await store.artifacts.list(sourceContext, { limit: 9 })).reduce(
      (sum, one) => sum + (one.current?.version ?? 0),
      0,
    ),
    memories: memories.length,
    children: runs.filter(({ parentRunId }) => parentRunId !== undefined).length,
    questions: (await client.inbox.list()).entries.length,
  };
}

/** Webhooks are sent in the order of the log, so the one of a later run proves that none is on its way. */
async function settled(): Promise<void> {
  const { runId } = await client.runs.create({ workflowId: 'below' });
  await heard(`webhook ${runId}`);
}

let source: readonly RunEventDoc[];
let live: Awaited<ReturnType<typeof effects>>;
let after: Awaited<ReturnType<typeof effects>>;
const replays: (readonly RunEventDoc[])[] = [];

beforeAll(async () => {
  await client.webhooks.register({ url: `${origin()}/webhook`, events: ['run.completed', 'interrupt.requested'] });
  const callbackUrl = `${origin()}/callback`;
  const { runId, contextId } = await client.runs.create({ workflowId: 'all', callbackUrl });
  sourceContext = String(contextId) as ContextId;
  await client.runs.wait(runId);
  const { questions } = await effects();
  // Nobody is called about a question that has its answer.
  await heard(`callback ${runId}`);
  await client.runs.answer(runId, 'ask', { action: 'accept' });
  source = await events(runId);
  await settled();
  live = { ...(await effects()), questions };
  for (const fromSeq of [0, 20]) {
    const fork = await client.runs.fork(runId, { mode: 'replay', fromSeq });
    replays.push(await events(fork.runId));
    // Nobody has to answer.
    expect((await effects()).questions).toBe(0);
  }
  await settled();
  after = { ...(await effects()), questions };
});

test('the replays write the events of the source', () => {
  for (const replay of replays) expect(shown(replay)).toEqual(shown(source));
});

test.each([
  ['model', 'a turn of a model, over HTTP'],
  ['tool', 'a call of a tool'],
  ['fetch', 'a request of the HTTP tool'],
  ['step', 'a call of a step'],
  ['callback', 'a callback'],
  ['files', 'a file of the run'],
  ['memories', 'an entry in a memory'],
  ['children', 'a child run'],
  ['questions', 'a question in the inbox'],
] as const)('%s: %s happens in the source, and in no replay', (kind, _what) => {
  expect(live[kind]).toBeGreaterThan(0);
  expect(after[kind]).toBe(live[kind]);
});

test('webhook: the source is told of, and no replay', () => {
  expect(live.webhook).toBeGreaterThan(1);
  // That of the run which proves it.
  expect(after.webhook).toBe(live.webhook + 1);
});

test('timer: a replay does not wait', () => {
  const fired = ({ type }: RunEventDoc) => type === 'cairn.timer.fired';
  for (const replay of replays) expect(replay.find(fired)?.timestamp).toBe(source.find(fired)?.timestamp);
});
