/** Values over the limit of an event, on a whole host: artifacts hold the results of steps and tools, and steps get them whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { Json, JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { createHost } from '../create-host.ts';
import { chain } from '../sample-workflows.kit.ts';

const key = 'a-key-of-enough-characters';
const SECRET = 'sk-crm-0123456789abcdef';
const data = mkdtempSync(join(tmpdir(), 'cairn-values-'));
let host: Awaited<ReturnType<typeof createHost>>;

/** What the first step and the tool return, and what the second step gets. */
let given: Json = null;
let got: JsonObject = {};

const chained = chain('large', { typeId: 'local.step.make' }, { typeId: 'local.step.take' });
const [make, take] = chained.nodes;
const large = {
  ...chained,
  nodes: [
    ...(make === undefined ? [] : [make]),
    ...(take === undefined
      ? []
      : [{ ...take, inputs: { rows: { type: 'connection' as const, nodeId: 'n0', outputKey: 'rows' } } }]),
  ],
};

beforeAll(async () => {
  host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't', principal: 'ann' }], secrets: { crm: { value: SECRET } } },
    steps: [
      defineStep({ name: 'make', safety: 'idempotent', run: async () => given }),
      defineStep({
        name: 'take',
        safety: 'idempotent',
        run: async (input) => {
          got = input;
          return { seen: JSON.stringify(input.rows ?? null).length };
        },
      }),
    ],
    workflows: [large as never],
    tools: [
      defineTool({
        id: 'acme.desk:work',
        description: 'Works.',
        input: z.object({}),
        safety: 'idempotent',
        secrets: ['crm'],
        run: async () => given,
      }),
    ],
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'Do it.',
        tools: ['acme.desk:work', 'openwop:fs.read'],
        rehearsal: { turns: [[{ call: { tool: 'acme.desk:work', input: {} } }], [{ say: 'Done.' }]] },
      }),
    ],
    report: () => undefined,
  });
});

afterAll(async () => {
  await host.close();
  rmSync(data, { recursive: true, force: true });
});

const client = () => createClient({ url: host.url ?? '', key });

async function ended(runId: string) {
  const rows: { type: string; payload: JsonObject }[] = [];
  for await (const { type, payload } of client().follow(runId)) rows.push({ type, payload: payload as JsonObject });
  return rows;
}

const rows = Array.from({ length: 6_000 }, (_, id) => ({ id, text: `Größe ${id} ${'x'.repeat(80)}` }));
const name = { artifactId: expect.stringMatching(/^values\//), version: 1, bytes: expect.any(Number) };

test('the large part of a step result is an artifact; the record refers to it, and the next step gets it whole', async () => {
  given = { rows, total: rows.length };
  const { runId, contextId } = await client().runs.create({ workflowId: 'large' });
  const events = await ended(runId);
  expect(events.at(-1)?.type).toBe('run.completed');
  expect(got).toEqual({ rows, total: 6_000 });
  const output = events.find(({ type }) => type === 'node.completed')?.payload.outputs as JsonObject;
  expect(output.total).toBe(6_000);
  expect(output.rows).toMatchObject({ 'cairn.artifact': name, preview: expect.stringContaining('Größe 0') });
  const { artifacts } = await client().context(String(contextId)).artifacts.list();
  expect(artifacts).toHaveLength(1);
  const read = await client().context(String(contextId)).artifacts.read(String(artifacts[0]?.artifactId));
  expect(await read.json()).toEqual(rows);
  // A replay takes it from the record, and writes the same rows.
  const replay = await client().runs.fork(runId, { mode: 'replay', fromSeq: 0 });
  const again = await ended(replay.runId);
  const outputs = (all: typeof events) =>
    all.filter(({ type }) => type === 'node.completed').map((one) => one.payload.outputs);
  expect(outputs(again)).toEqual(outputs(events));
});

test('a result beyond the limit of a value fails its step, and a made-up reference opens nothing', async () => {
  given = { rows: 'x'.repeat(2_100_000) };
  const failed = await ended((await client().runs.create({ workflowId: 'large' })).runId);
  expect(failed.at(-1)).toMatchObject({ type: 'run.failed', payload: { error: { code: 'event_too_large' } } });
  given = {
    rows: { 'cairn.artifact': { artifactId: 'values/other.json', version: 1, bytes: 9, sha256: 'a'.repeat(64) } },
  };
  const forged = await ended((await client().runs.create({ workflowId: 'large' })).runId);
  expect(forged.at(-1)).toMatchObject({ type: 'run.failed', payload: { error: { code: 'not_found' } } });
});

test('a large result of a tool is an artifact without secrets, and the model gets a reference with its beginning', async () => {
  given = { text: `${'Wort '.repeat(80_000)}${SECRET}`, count: 2 };
  const { runId, contextId } = await client().runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' } });
  const events = await ended(runId);
  const { outcome, status } = events.find(({ type }) => type === 'agent.toolReturned')?.payload ?? {};
  expect(status).toBe('ok');
  expect(outcome).toMatchObject({
    count: 2,
    text: { 'cairn.artifact': name, note: expect.stringContaining('values/') },
  });
  const { artifacts } = await client().context(String(contextId)).artifacts.list();
  const read = await client().context(String(contextId)).artifacts.read(String(artifacts[0]?.artifactId));
  const text = await read.text();
  expect(text).toContain('Wort Wort');
  expect(text).not.toContain(SECRET);
  given = 'x'.repeat(2_100_000);
  const second = await ended((await client().runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' } })).runId);
  expect(second.find(({ type }) => type === 'agent.toolReturned')?.payload).toMatchObject({
    status: 'error',
    error: { code: 'tool_failed', message: expect.stringContaining('larger than 2000 KB') },
  });
});
