/** Answers of models and of people over the limit of an event: artifacts hold them, in every view and after every cut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@cairn/client/context';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { callFragment, chunk, type FakeOpenAi, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { objects } from '../../../test/kit/json-fields.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { typed } from '../../cli/recording-terminal.kit.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { scopes } from '../access/auth.ts';
import { createHost, type Host } from '../create-host.ts';

const key = 'a-key-of-enough-characters';
const cwd = mkdtempSync(join(tmpdir(), 'cairn-answers-'));
const data = join(cwd, 'data');
/** Over a megabyte as UTF-8, but for the last: a request body takes that much. */
const said = 'Größe und Maß\n'.repeat(45_000);
const pasted = 'Zeile\n'.repeat(100_000);

let host: Host;
let model: FakeOpenAi;
/** What the step and the tool got. */
let got: unknown = null;

/** Compared as a whole: a failure would print the texts. */
const isGiven = (value: unknown): boolean =>
  isDeepStrictEqual((got as { readonly value?: unknown } | null)?.value, value);

const step = defineStep({
  name: 'take',
  safety: 'idempotent',
  run: async (input) => {
    got = input;
    return { ok: true };
  },
});

const turnOf = (text: string): readonly JsonObject[] => [
  ...(text.match(/[\s\S]{1,60000}/g) ?? []).map((content) => chunk({ content })),
  chunk({}, 'stop'),
  usageChunk({ prompt_tokens: 1 }),
];

const takes = (nodeId: string, outputKey: string) => ({
  type: 'local.step.take',
  inputs: { value: { type: 'connection' as const, nodeId, outputKey } },
});

beforeAll(async () => {
  model = await fakeOpenAi(({ body }) => {
    const [tool] = objects(body.tools ?? []);
    const isFirst = objects(body.messages).every(({ role }) => role !== 'tool');
    if (tool === undefined || !isFirst) return { chunks: turnOf(tool === undefined ? said : 'Done.') };
    const { name } = tool.function as { readonly name: string };
    const call = callFragment(0, { id: 'c', name, arguments: '{}' });
    return { chunks: [chunk(call), chunk({}, 'tool_calls'), usageChunk({ prompt_tokens: 1 })] };
  });
  host = await createHost({
    config: {
      port: 0,
      data,
      keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }],
      models: {
        providers: { fake: { kind: 'openai-compatible', baseUrl: model.url, models: { long: {} } } },
        default: 'fake/long',
      },
    },
    steps: [step],
    tools: [
      defineTool({
        id: 'acme.desk:ask',
        description: 'Asks.',
        input: z.object({}),
        safety: 'idempotent',
        run: async (_input, { ask }) => {
          got = await ask({ prompt: 'Paste it.', schema: z.string() });
          return null;
        },
      }),
    ],
    agents: [
      defineAgent({ id: 'host:writer', persona: 'Writer', instructions: 'Write.' }),
      defineAgent({
        id: 'host:asker',
        persona: 'Asker',
        instructions: 'Ask.',
        tools: ['acme.desk:ask'],
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'writes',
        version: '1',
        nodes: { write: { type: 'cairn.agent', agent: { agentId: 'host:writer' } }, take: takes('write', 'content') },
        edges: [{ from: 'write', to: 'take' }],
      }),
      defineWorkflow({
        id: 'asks',
        version: '1',
        nodes: {
          gate: {
            type: 'core.clarificationGate',
            config: { questions: [{ id: 'text', question: 'Paste it.', schema: { type: 'string' } }] },
          },
          take: takes('gate', 'answers'),
        },
        edges: [{ from: 'gate', to: 'take' }],
      }),
    ],
    report: () => undefined,
  });
});

afterAll(async () => {
  await host.close();
  await model[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true, force: true });
});

const client = () => createClient({ url: host.url ?? '', key });
const runs: string[] = [];

async function rowsOf(runId: string) {
  const rows: { type: string; payload: JsonObject; sequence: number; nodeId?: string }[] = [];
  for await (const { type, payload, sequence, nodeId } of client().follow(runId)) {
    rows.push({ type, payload: payload as JsonObject, sequence, ...(nodeId !== undefined && { nodeId }) });
  }
  return rows;
}

const reference = {
  'cairn.artifact': { artifactId: expect.stringMatching(/^values\//), version: 1, sha256: expect.any(String) },
  note: expect.stringContaining('too many for an event'),
};

/** Everything but ids and times of a replay is that of its source. */
async function replayed(runId: string): Promise<void> {
  const told = async (id: string) => (await rowsOf(id)).map(({ type, nodeId, payload }) => [type, nodeId, payload]);
  const replay = await client().runs.fork(runId, { mode: 'replay', fromSeq: 0 });
  expect(isDeepStrictEqual(await told(replay.runId), await told(runId))).toBe(true);
  runs.push(runId, replay.runId);
}

test('a long answer of a model is streamed whole, kept in an artifact, and given whole to the next step', async () => {
  const { runId, contextId } = await client().runs.create({ workflowId: 'writes' });
  const rows = await rowsOf(runId);
  expect(rows.at(-1)).toMatchObject({ type: 'run.completed' });
  const streamed = rows.filter(({ type }) => type === 'output.chunk').map(({ payload }) => payload.chunk);
  expect(streamed.join('') === said).toBe(true);
  expect(rows.findLast(({ type }) => type === 'output.chunk')?.payload.large).toMatchObject(reference);
  const completed = rows.find(({ type, nodeId }) => type === 'node.completed' && nodeId === 'write');
  expect(completed?.payload.outputs).toMatchObject({ content: reference, agentId: 'host:writer' });
  expect(isGiven(said)).toBe(true);
  const context = client().context(String(contextId));
  const { artifacts } = await context.artifacts.list();
  const read = await context.artifacts.read(String(artifacts[0]?.artifactId));
  expect(JSON.parse(await read.text()) === said).toBe(true);
  await replayed(runId);
});

test('in a task, the end of a long answer shows its beginning and names the artifact', async () => {
  const context = client().context();
  const shown: JsonObject[] = [];
  for await (const event of context.send('Write.', { agentId: 'host:writer' })) {
    if (event.kind === 'content-complete' || event.kind === 'task-complete') shown.push(event as never);
  }
  const [content, task] = shown;
  expect(content?.content === said.slice(0, 65_536)).toBe(true);
  expect(content?.metadata).toMatchObject({ truncated: true, artifact: { version: 1 } });
  expect(task?.content).toMatch(/^"Größe und Maß[\s\S]*The file values\/.* holds it\.$/);
  expect(task?.artifacts).toHaveLength(1);
});

test('a branch of a run with a long answer asks the model again, and has an artifact of its own', async () => {
  const [runId = ''] = runs;
  const before = model.requests.length;
  const started = (await rowsOf(runId)).find(({ type, nodeId }) => type === 'node.started' && nodeId === 'write');
  const branch = await client().runs.fork(runId, { mode: 'branch', fromSeq: Number(started?.sequence) + 1 });
  expect((await rowsOf(branch.runId)).at(-1)?.type).toBe('run.completed');
  expect(model.requests.length).toBe(before + 1);
  expect(isGiven(said)).toBe(true);
  const after = (await rowsOf(runId)).find(({ type, nodeId }) => type === 'node.started' && nodeId === 'take');
  const late = await client().runs.fork(runId, { mode: 'branch', fromSeq: Number(after?.sequence) });
  got = null;
  expect((await rowsOf(late.runId)).at(-1)?.type).toBe('run.completed');
  expect(isGiven(said)).toBe(true);
  runs.push(branch.runId, late.runId);
});

test('a long answer of a person is kept with the answer, and given whole to the step and the tool that wait for it', async () => {
  const { runId } = await client().runs.create({ workflowId: 'asks' });
  await client().runs.wait(runId);
  await client().runs.answer(runId, 'gate', { answers: { text: pasted } });
  const rows = await rowsOf(runId);
  expect(rows.at(-1)?.type).toBe('run.completed');
  const resolved = rows.find(({ type }) => type === 'interrupt.resolved');
  expect(resolved?.payload.resumeValue).toMatchObject({ answers: { text: reference } });
  expect(isGiven({ text: pasted })).toBe(true);
  await replayed(runId);

  const asker = await client().runs.create({ agentId: 'host:asker', inputs: { message: 'Go.' } });
  await client().runs.wait(asker.runId);
  await client().runs.answer(asker.runId, 'agent', { answers: { answer: pasted } });
  expect((await rowsOf(asker.runId)).at(-1)?.type).toBe('run.completed');
  expect(got === pasted).toBe(true);
  await replayed(asker.runId);
});

test('a long answer that the question does not take is refused, and nothing of it is kept', async () => {
  const { runId, contextId } = await client().runs.create({ workflowId: 'asks' });
  await client().runs.wait(runId);
  const wrong = client().runs.answer(runId, 'gate', { answers: { text: [pasted] } });
  await expect(wrong).rejects.toMatchObject({ status: 400 });
  expect(await client().context(String(contextId)).artifacts.list()).toMatchObject({ artifacts: [] });
});

test('a branch cut anywhere in the rows of a long answer waits for an answer again, and takes one', async () => {
  const { runId } = await client().runs.create({ workflowId: 'asks' });
  await client().runs.wait(runId);
  await client().runs.answer(runId, 'gate', { answers: { text: pasted } });
  const rows = await rowsOf(runId);
  const places = rows.filter(({ type }) => type === 'artifact.created' || type === 'interrupt.resolved');
  expect(places).toHaveLength(2);
  for (const { sequence } of places) {
    const { runId: branch } = await client().runs.fork(runId, { mode: 'branch', fromSeq: sequence });
    await client().runs.wait(branch);
    got = null;
    await client().runs.answer(branch, 'gate', { answers: { text: pasted } });
    expect((await rowsOf(branch)).at(-1)?.type).toBe('run.completed');
    expect(isGiven({ text: pasted })).toBe(true);
    runs.push(branch);
  }
});

test('such runs verify, are decided again, and travel in bundles; a purge takes their artifacts', async () => {
  const purged = runs.pop() ?? '';
  const contextId = String((await client().runs.get(purged)).contextId);
  expect((await client().context(contextId).artifacts.list()).artifacts).toHaveLength(2);
  await client().runs.delete(purged);
  expect((await client().context(contextId).artifacts.list()).artifacts).toHaveLength(0);
  await host.close();
  const cairn = (...args: readonly string[]) => typed([...args, '--data', data], { cwd });
  for (const runId of runs) {
    expect([runId, (await cairn('verify', runId)).code]).toEqual([runId, 0]);
    expect([runId, (await cairn('replay', runId)).code]).toEqual([runId, 0]);
  }
  const { file } = JSON.parse((await cairn('export', String(runs[0]), '--json')).out);
  expect((await cairn('verify', String(file))).code).toBe(0);
});
