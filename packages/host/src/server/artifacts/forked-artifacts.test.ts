/** The artifacts of a branch: what child runs that had ended, and earlier runs of the conversation, wrote before the cut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { defineWorkflow, fixed, variable } from '../../engine/workflow/define-workflow.ts';
import { emptyStore } from '../../log/empty-store.kit.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver } from '../create-host.ts';

const key = 'a-key-of-enough-characters';

const call = (tool: string, input: Json) => [{ call: { tool: `openwop:fs.${tool}`, input } }];
const agentOf = (id: string, ...turns: readonly ReturnType<typeof call>[]) =>
  defineAgent({
    id,
    persona: 'Clerk',
    instructions: 'Work.',
    tools: ['openwop:fs.read', 'openwop:fs.write', 'openwop:fs.list'],
    rehearsal: { turns: [...turns, [{ say: 'Done.' }]] } as never,
  });

const writer = agentOf('host:writer', call('write', { path: 'plan.md', text: 'A draft.' }));
const editor = agentOf(
  'host:editor',
  call('list', {}),
  call('read', { path: 'plan.md' }),
  call('write', { path: 'plan.md', text: 'A better one.' }),
  call('write', { path: 'late.md', text: 'Late.' }),
  call('list', {}),
);

const message = fixed('Go.');
const below = defineWorkflow({
  id: 'below',
  version: '1',
  variables: { rows: { type: 'array', defaultValue: [] } },
  nodes: {
    write: { type: 'cairn.agent', agent: writer, inputs: { message } },
    make: { type: 'local.step.make' },
    keep: { type: 'core.setVariable', config: { name: 'rows', expression: 'outputs.make.rows' } },
  },
});
const above = defineWorkflow({
  id: 'above',
  version: '1',
  variables: { rows: { type: 'array', defaultValue: [] } },
  nodes: {
    below: { type: 'core.subWorkflow', config: { workflowId: 'below', outputMapping: { rows: 'rows' } } },
    edit: { type: 'cairn.agent', agent: editor, inputs: { message } },
    take: { type: 'local.step.take', inputs: { rows: variable('rows') } },
  },
});

const rows = Array.from({ length: 6_000 }, (_, id) => ({ id, text: `row ${id} ${'x'.repeat(80)}` }));

async function open(kind: 'sqlite' | 'other') {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-forked-artifacts-'));
  const taken: Json[] = [];
  const store = kind === 'sqlite' ? await openSqliteStore({ folder }) : await emptyStore();
  const host = await createHostOver(store, {
    config: { port: 0, data: folder, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }] },
    agents: [writer, editor],
    steps: [
      defineStep({ name: 'make', safety: 'idempotent', run: async () => ({ rows }) }),
      defineStep({
        name: 'take',
        safety: 'idempotent',
        run: async (input) => {
          taken.push(input.rows ?? null);
          return {};
        },
      }),
    ],
    workflows: [below, above],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const client = createClient({ url: host.url ?? '', key });
  const ended = async (runId: string) => {
    const events: { type: string; sequence: number; nodeId?: string | undefined; payload: JsonObject }[] = [];
    for await (const { type, sequence, nodeId, payload } of client.follow(runId))
      events.push({ type, sequence, nodeId, payload: payload as JsonObject });
    const results = events.filter(({ type }) => type === 'agent.toolReturned').map(({ payload }) => payload.outcome);
    return { events, results, last: events.at(-1)?.type };
  };
  const versions = async (contextId: string | undefined) =>
    (await client.context(String(contextId)).artifacts.list()).artifacts.map(({ artifactId, version }) => [
      artifactId.replace(/^values\/.*/, 'values'),
      version,
    ]);
  return { client, ended, versions, taken };
}

test.each(['sqlite', 'other'] as const)(
  'a branch has the files and the large values of children that had ended, as of its cut (%s)',
  async (kind) => {
    const { client, ended, versions, taken } = await open(kind);
    const source = await client.runs.create({ workflowId: 'above' });
    const first = await ended(source.runId);
    expect(first.last).toBe('run.completed');
    expect(first.results[1]).toMatchObject({ text: 'A draft.' });
    const after = [
      ['late.md', 1],
      ['plan.md', 2],
      ['values', 1],
    ];
    expect(await versions(String(source.contextId))).toEqual(after);
    const at = first.events.find(({ type, nodeId }) => type === 'node.started' && nodeId === 'edit');
    const branch = await client.runs.fork(source.runId, { mode: 'branch', fromSeq: present(at).sequence });
    const second = await ended(branch.runId);
    expect(second.last).toBe('run.completed');
    expect(second.results).toEqual(first.results);
    expect(taken).toEqual([rows, rows]);
    expect(await versions(branch.contextId)).toEqual(after);
    const plan = (version?: number) =>
      client.context(String(branch.contextId)).artifacts.read('plan.md', version === undefined ? {} : { version });
    expect([await (await plan(1)).text(), await (await plan()).text()]).toEqual(['A draft.', 'A better one.']);
    // A branch of the branch, at its end: it finds both versions where they are.
    const step = second.events.findLast(({ type, nodeId }) => type === 'node.started' && nodeId === 'take');
    const next = await client.runs.fork(branch.runId, { mode: 'branch', fromSeq: present(step).sequence });
    expect((await ended(next.runId)).last).toBe('run.completed');
    expect(taken).toHaveLength(3);
    expect(taken[2]).toEqual(rows);
    expect(await versions(next.contextId)).toEqual(after);
  },
);

test('a branch of a second message has the files of the first, and none that came later', async () => {
  const { client, ended, versions } = await open('other');
  const inputs = { message: 'Go.' };
  const first = await client.runs.create({ agentId: 'host:writer', inputs });
  await ended(first.runId);
  const configurable = { 'cairn.contextId': String(first.contextId) };
  const second = await client.runs.create({ agentId: 'host:editor', inputs, configurable });
  const { results } = await ended(second.runId);
  await ended((await client.runs.create({ agentId: 'host:writer', inputs, configurable })).runId);
  const branch = await client.runs.fork(second.runId, { mode: 'branch', fromSeq: 2 });
  expect((await ended(branch.runId)).results).toEqual(results);
  expect(await versions(branch.contextId)).toEqual([
    ['late.md', 1],
    ['plan.md', 2],
  ]);
  // Once the second message is purged by force, the branch has what it wrote itself.
  await client.runs.delete(second.runId, { force: true });
  expect(await versions(branch.contextId)).toEqual([
    ['late.md', 1],
    ['plan.md', 2],
  ]);
});
