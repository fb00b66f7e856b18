/** Branches of runs with agents: recorded turns and results are reused, prompts change, every event is a fork point. */
import { type Client, createClient } from '@cairn/client';
import type { ForkRun, JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver } from '../create-host.ts';

const key = 'a-key-of-enough-characters';

interface Desk {
  readonly client: Client;
  /** How often the tool was called. */
  readonly rolls: () => number;
}

/** An agent that rolls dice twice in one turn and says what came of it. */
async function open(): Promise<Desk> {
  let rolls = 0;
  const roll = defineTool({
    id: 'acme.dice:roll',
    description: 'Rolls a die.',
    input: z.object({ sides: z.number() }),
    run: () => {
      rolls += 1;
      return { rolled: rolls };
    },
  });
  const call = (sides: number) => ({ call: { tool: 'acme.dice:roll', input: { sides } } });
  const agent = defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Roll.',
    tools: ['acme.dice:roll'],
    rehearsal: { turns: [[call(6), call(20)], [{ say: 'Rolled {{last.rolled}}.' }]] },
  });
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }] },
    tools: [roll],
    agents: [agent],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  return { client: createClient({ url: host.url ?? '', key }), rolls: () => rolls };
}

async function events(client: Client, runId: string): Promise<readonly RunEventDoc[]> {
  const rows: RunEventDoc[] = [];
  for await (const row of client.follow(runId)) rows.push(row);
  return rows;
}

async function source({ client }: Desk): Promise<{ runId: string; rows: readonly RunEventDoc[] }> {
  const { runId } = await client.runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' } });
  return { runId, rows: await events(client, runId) };
}

async function branched({ client }: Desk, runId: string, fork: Omit<ForkRun, 'mode'>): Promise<readonly RunEventDoc[]> {
  const branch = await client.runs.fork(runId, { mode: 'branch', ...fork });
  return events(client, branch.runId);
}

const ofType = (rows: readonly RunEventDoc[], type: string): readonly JsonObject[] =>
  rows.filter((row) => row.type === type).map(({ payload }) => payload as JsonObject);

const seqOf = (rows: readonly RunEventDoc[], type: string): number =>
  rows.find((row) => row.type === type)?.sequence ?? -1;

const textsOf = (rows: readonly RunEventDoc[]): string =>
  ofType(rows, 'output.chunk')
    .map(({ chunk }) => chunk)
    .join('');

test('a branch that reuses everything makes no call and says the same', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  const before = desk.rolls();
  expect(before).toBe(2);
  const fromSeq = seqOf(rows, 'agent.invocation.started');
  const branch = await branched(desk, runId, { fromSeq, cairn: { rules: [{ calls: '*', use: 'reuse' }] } });
  expect(desk.rolls()).toBe(before);
  const origins = (type: string) => ofType(branch, type).map(({ reusedFrom }) => reusedFrom);
  const seqs = (type: string) => rows.filter((row) => row.type === type).map(({ sequence: seq }) => ({ runId, seq }));
  expect(origins('agent.toolReturned')).toEqual(seqs('agent.toolReturned'));
  expect(origins('cairn.model.returned')).toEqual(seqs('cairn.model.returned'));
  expect(textsOf(branch)).toBe(textsOf(rows));
  expect(branch.at(-1)?.type).toBe('run.completed');
});

test('a changed prompt is another request of the model, and an unchanged call of a tool is still reused', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  const branch = await branched(desk, runId, {
    fromSeq: seqOf(rows, 'node.started'),
    cairn: { rules: [{ calls: '*', use: 'reuse' }], overlay: { prompts: { 'host:desk': 'Roll with care.' } } },
  });
  expect(desk.rolls()).toBe(2);
  expect(ofType(branch, 'cairn.model.returned').map(({ reusedFrom }) => reusedFrom)).toEqual([undefined, undefined]);
  const keys = (all: readonly RunEventDoc[]) =>
    ofType(all, 'cairn.model.returned').map(({ turn }) => (turn as JsonObject).cacheKey);
  expect(keys(branch)[0]).not.toBe(keys(rows)[0]);
});

test('a rule by the name of the tool makes only the others again', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  const fromSeq = seqOf(rows, 'node.started');
  await branched(desk, runId, { fromSeq, cairn: { rules: [{ calls: 'tool:acme.dice:roll', use: 'reuse' }] } });
  expect(desk.rolls()).toBe(2);
  await branched(desk, runId, { fromSeq, cairn: { rules: [{ calls: 'tool:acme.dice:other', use: 'reuse' }] } });
  expect(desk.rolls()).toBe(4);
});

test('the result of a tool can be another one in a branch', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  const returned = rows.filter(({ type }) => type === 'agent.toolReturned').at(-1);
  const callId = String(ofType(rows, 'agent.toolReturned').at(-1)?.callId);
  const branch = await branched(desk, runId, {
    fromSeq: returned?.sequence ?? 0,
    cairn: { overlay: { result: { callId, value: { rolled: 99 } } } },
  });
  expect(textsOf(branch)).toContain('Rolled 99.');
  expect(desk.rolls()).toBe(2);
});

test('a turn of a model takes no result from an overlay, which could only fail it', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  const callId = String(ofType(rows, 'cairn.model.returned')[0]?.callId);
  const fork = {
    fromSeq: seqOf(rows, 'cairn.model.returned'),
    cairn: { overlay: { result: { callId, value: 'Hi.' } } },
  };
  await expect(branched(desk, runId, fork)).rejects.toMatchObject({
    code: 'validation_error',
    details: { openCalls: [] },
  });
});

test('a run with an agent can branch at each of its events', async () => {
  const desk = await open();
  const { runId, rows } = await source(desk);
  for (const { sequence, type } of rows) {
    const branch = await branched(desk, runId, { fromSeq: sequence });
    expect(branch.at(-1)?.type, `at ${sequence} ${type}`).toBe('run.completed');
    expect(ofType(branch, 'agent.toolReturned').length, `calls at ${sequence} ${type}`).toBe(2);
    expect(branch.map((row) => row.sequence)).toEqual(branch.map((_, i) => i));
  }
});
