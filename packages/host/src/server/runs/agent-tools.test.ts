/** Tools as agents call them on a whole host: shown, refused, suspended, taken up by the next process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import type { Tool } from '../../agents/tools/tool.ts';
import { createHost } from '../create-host.ts';

const key = 'a-key-of-enough-characters';

function folder(): string {
  const data = mkdtempSync(join(tmpdir(), 'cairn-agent-tools-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

interface Desk {
  readonly data: string;
  readonly tools: readonly Tool[];
  readonly allowlist: readonly string[];
  /** What the agent does, turn by turn. */
  readonly turns: Json;
  readonly toolScopes?: readonly string[];
}

async function open({ data, tools, allowlist, turns, toolScopes = [] }: Desk) {
  const agent = defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Do it.',
    tools: allowlist,
    rehearsal: { turns },
  });
  const host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't', principal: 'ann', toolScopes: [...toolScopes] }] },
    tools,
    agents: [agent],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  return { host, client: createClient({ url: host.url ?? '', key }) };
}

type Opened = Awaited<ReturnType<typeof open>>;

const start = ({ client }: Opened, configurable: JsonObject = {}) =>
  client.runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' }, configurable });

/** The rows of a run once it has ended. */
async function ended({ client }: Opened, runId: string) {
  const rows: { type: string; payload: JsonObject }[] = [];
  for await (const { type, payload } of client.follow(runId)) rows.push({ type, payload: payload as JsonObject });
  return rows;
}

const ofType = (rows: Awaited<ReturnType<typeof ended>>, type: string) =>
  rows.filter((row) => row.type === type).map(({ payload }) => payload);

test('a call that waits for a person goes on in another process, and its step has happened once', async () => {
  const data = folder();
  const done: string[] = [];
  const refund = defineTool({
    id: 'acme.shop:refund',
    description: 'Pays back.',
    input: z.object({ order: z.string() }),
    async run({ order }, { ask, step, progress }) {
      const amount = await step('look up', () => {
        done.push('look up');
        return 120;
      });
      progress(0.5, 'asking');
      const yes = await ask({ prompt: `Refund ${amount} for ${order}?`, schema: { type: 'boolean' } });
      const receipt = await step('pay', () => {
        done.push('pay');
        return 'r-1';
      });
      return { yes, receipt };
    },
  });
  const desk: Desk = {
    data,
    tools: [refund],
    allowlist: ['acme.shop:*'],
    turns: [[{ call: { tool: 'acme.shop:refund', input: { order: 'o7' } } }], [{ say: 'Paid: {{last.receipt}}' }]],
  };
  const first = await open(desk);
  const { runId } = await start(first);
  for await (const { type } of first.client.follow(runId)) if (type === 'interrupt.requested') break;
  await first.host.close();
  expect(done).toEqual(['look up']);
  const second = await open(desk);
  const [asked] = await second.client.interrupts.ofRun(runId);
  expect(asked?.data).toMatchObject({ questions: [{ question: 'Refund 120 for o7?', schema: { type: 'boolean' } }] });
  await second.client.runs.answer(runId, 'agent', { answers: { [questionId(asked?.data)]: true } });
  const rows = await ended(second, runId);
  expect(done).toEqual(['look up', 'pay']);
  expect(ofType(rows, 'agent.toolCalled')).toHaveLength(1);
  expect(ofType(rows, 'agent.toolReturned')).toMatchObject([{ status: 'ok', outcome: { yes: true, receipt: 'r-1' } }]);
  expect(ofType(rows, 'cairn.tool.progress')).toMatchObject([{ progress: 0.5, message: 'asking' }]);
  expect((await second.client.runs.get(runId)).status).toBe('completed');
});

const questionId = (data: unknown): string =>
  (data as { readonly questions: readonly { readonly id: string }[] }).questions[0]?.id ?? '';

const scoped = defineTool({
  id: 'acme:scoped',
  description: 'Needs a scope.',
  input: z.object({}),
  safety: 'read',
  needs: ['tool:special'],
  run: () => 'did it',
});

test.each<[string, Partial<Desk>, JsonObject, object]>([
  [
    'the manifest',
    { allowlist: ['openwop:ask'] },
    {},
    {
      status: 'forbidden',
      error: { code: 'forbidden', details: { rule: 'toolAllowlist has no line for acme:scoped' } },
    },
  ],
  [
    'the scopes of the starter',
    {},
    {},
    { status: 'forbidden', error: { code: 'forbidden', details: { requiredScopes: ['tool:special'] } } },
  ],
  [
    'the starter’s own word',
    { toolScopes: ['tool:special'] },
    { 'cairn.tools': ['openwop:*'] },
    { status: 'forbidden', error: { details: { rule: 'cairn.tools has no line for acme:scoped' } } },
  ],
  ['nobody', { toolScopes: ['tool:special'] }, {}, { status: 'ok', outcome: 'did it' }],
])('a call that is held back by %s returns so, as an event', async (_whom, change, configurable, returned) => {
  const desk = await open({
    data: folder(),
    tools: [scoped],
    allowlist: ['acme:*'],
    turns: [[{ call: { tool: 'acme:scoped', input: {} } }], [{ say: 'Well.' }]],
    ...change,
  });
  const { runId } = await start(desk, configurable);
  const rows = await ended(desk, runId);
  expect(ofType(rows, 'agent.toolReturned')).toMatchObject([returned]);
  expect(ofType(rows, 'run.completed')).toHaveLength(1);
  const [called] = ofType(rows, 'agent.toolCalled');
  if ('outcome' in returned) expect(called?.rule).toContain('toolAllowlist[0] "acme:*"');
});

test('tools that misbehave are errors for the agent, and the run goes on', async () => {
  const bad = (name: string, run: () => unknown): Tool =>
    defineTool({ id: `bad:${name}`, description: name, input: z.object({}), safety: 'read', timeoutMs: 50, run });
  const tools = [
    bad('hang', () => new Promise(() => undefined)),
    bad('throw', () => {
      throw new Error('no');
    }),
    bad('huge', () => 'x'.repeat(100_000_000)),
    bad('odd', () => ({ n: 1n })),
    bad('largest', () => 'x'.repeat(239_998)),
  ];
  const calls = tools.map(({ id }) => ({ call: { tool: id, input: {} } }));
  const desk = await open({ data: folder(), tools, allowlist: ['bad:*'], turns: [calls, [{ say: 'Well.' }]] });
  const { runId } = await start(desk);
  const rows = await ended(desk, runId);
  const returned = ofType(rows, 'agent.toolReturned').map(({ toolName, status, error }) => [
    toolName,
    status,
    (error as JsonObject | undefined)?.code,
  ]);
  expect(returned.sort()).toEqual([
    ['bad:hang', 'error', 'tool_timeout'],
    ['bad:huge', 'error', 'tool_failed'],
    ['bad:largest', 'ok', undefined],
    ['bad:odd', 'error', 'tool_failed'],
    ['bad:throw', 'error', 'tool_failed'],
  ]);
  expect(ofType(rows, 'run.completed')).toHaveLength(1);
});
