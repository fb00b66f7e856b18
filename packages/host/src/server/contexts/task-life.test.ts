/** The life of tasks on a whole host, as its clients see it: in success, failure, cancel, restart, and with subtasks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { createHost, type Host } from '../create-host.ts';
import { workTool } from './called-host.kit.ts';
import { until } from './talk.kit.ts';

const key = 'a-key-of-enough-characters';
const data = mkdtempSync(join(tmpdir(), 'cairn-task-life-'));

const { tool, set } = workTool();
const calls = (name: string) => [
  [{ say: ['I ', 'look.'] }, { call: { tool: name, input: {} } }],
  [{ say: ['Do', 'ne.'] }],
];
const agentOf = (id: string, turns: readonly Json[]) =>
  defineAgent({
    id,
    persona: 'Desk',
    instructions: 'Do it.',
    tools: ['acme.desk:work'],
    rehearsal: { turns: [...turns] },
  });

let host: Host;
const start = async () => {
  host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't', principal: 'ann' }], defaultAgent: 'host:desk' },
    tools: [tool],
    agents: [agentOf('host:desk', calls('acme.desk:work')), agentOf('host:lost', calls('elsewhere:rocket'))],
    workflows: [
      defineWorkflow({
        id: 'child',
        version: '1',
        variables: { message: { type: 'string', defaultValue: 'Look after it.' } },
        nodes: { work: { type: 'cairn.agent', agent: { agentId: 'host:desk' } } },
      }),
      defineWorkflow({
        id: 'parent',
        version: '1',
        variables: { order: { type: 'string', defaultValue: 'Find the parcel.' } },
        nodes: {
          down: { type: 'core.subWorkflow', config: { workflowId: 'child', inputMapping: { message: 'order' } } },
        },
      }),
      defineWorkflow({
        id: 'grandparent',
        version: '1',
        nodes: {
          down: { type: 'core.subWorkflow', config: { workflowId: 'parent' } },
          gate: { type: 'core.approvalGate' },
        },
        edges: [],
      }),
    ],
    report: () => undefined,
  });
};
beforeAll(start);
afterAll(async () => {
  await host.close();
  rmSync(data, { recursive: true, force: true });
});

const ask = async (method: string, path: string, body?: object) =>
  fetch(`${host.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'respond-async' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

type Event = JsonObject & { readonly kind: string; readonly taskId: string; readonly cursor: number };

const isEnd = ({ kind, status }: JsonObject): boolean =>
  kind === 'task-complete' || (kind === 'task-status' && (status === 'failed' || status === 'canceled'));

async function send(agentId?: string): Promise<{ contextId: string; taskId: string }> {
  const message = { role: 'user', content: 'Go.' };
  const response = await ask('POST', '/api/messages', { message, ...(agentId !== undefined && { agentId }) });
  return (await response.json()) as { contextId: string; taskId: string };
}

/** The events of a context once its root task has ended. Checks what holds for every task. */
async function endedEvents({ contextId, taskId }: { contextId: string; taskId: string }): Promise<readonly Event[]> {
  await until(
    await ask('GET', `/api/contexts/${contextId}/stream?after=0`),
    ({ data: event }) => event.taskId === taskId && isEnd(event),
  );
  const response = await ask('GET', `/api/contexts/${contextId}/events?after=0&limit=500`);
  const { events } = (await response.json()) as { events: Event[] };
  for (const id of new Set(events.map((event) => event.taskId))) {
    checkLife(events.filter((event) => event.taskId === id));
  }
  return events;
}

function checkLife(events: readonly Event[]): void {
  const unsigned = events.filter(({ agentId }) => typeof agentId !== 'string').map(({ kind }) => kind);
  expect(unsigned.filter((kind) => kind !== 'subtask-created' && kind !== 'input-received')).toEqual([]);
  expect(events.map(({ kind }) => kind).indexOf('task-created')).toBe(0);
  expect(events.filter(({ kind }) => kind === 'task-created')).toHaveLength(1);
  expect(events.filter(isEnd)).toEqual([events.at(-1)]);
  const open = new Set<Json | undefined>();
  const texts = new Map<Json | undefined, string>();
  for (const event of events) {
    const { kind, toolCallId, contentId } = event;
    if (kind === 'tool-start') expect(open.has(toolCallId)).toBe(false);
    if (kind === 'tool-start') open.add(toolCallId);
    if (kind === 'tool-complete') expect(open.delete(toolCallId)).toBe(true);
    if (kind === 'content-delta') {
      // A block that begins again belongs to another attempt; clients discard what the first one said.
      texts.set(contentId, (event.index === 0 ? '' : (texts.get(contentId) ?? '')) + String(event.delta));
    }
    if (kind === 'content-complete') expect(event.content).toBe(texts.get(contentId));
  }
  expect([...open]).toEqual([]);
}

const ofKind = (events: readonly Event[], kind: string) => events.filter((event) => event.kind === kind);

/** A tool that tells when it is at work, and then works until it is stopped. */
function endlessWork(): { readonly begun: Promise<void> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  set.work = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
      resolve();
    });
  return { begun };
}

it('a task that succeeds names its agent and model, says its answer once, and ends with both of its ends', async () => {
  set.work = async () => ({ found: 3 });
  const events = await endedEvents(await send());
  expect(events[0]).toMatchObject({ metadata: { agentId: 'host:desk', model: 'scripted' } });
  expect(ofKind(events, 'tool-complete')).toMatchObject([{ success: true, result: { found: 3 } }]);
  expect(ofKind(events, 'content-complete').map(({ content }) => content)).toEqual(['I look.', 'Done.']);
  expect(ofKind(events, 'thought-stream')).toEqual([]);
  expect(events.slice(-2)).toMatchObject([{ kind: 'task-status', status: 'completed' }, { kind: 'task-complete' }]);
});

it('a call of a tool that does not exist, or that fails, ends once, as a failure', async () => {
  const lost = await endedEvents(await send('host:lost'));
  expect(ofKind(lost, 'tool-complete')).toMatchObject([{ success: false }]);
  set.work = async () => {
    throw new Error('broken');
  };
  expect(ofKind(await endedEvents(await send()), 'tool-complete')).toMatchObject([{ success: false }]);
});

it('a task that is cancelled in the middle of a call closes the call before it ends', async () => {
  const { begun } = endlessWork();
  const sent = await send();
  await begun;
  await ask('POST', `/api/contexts/${sent.contextId}/tasks/${sent.taskId}/cancel`, {});
  const events = await endedEvents(sent);
  expect(ofKind(events, 'tool-complete')).toMatchObject([{ success: false }]);
  expect(events.at(-1)).toMatchObject({ status: 'canceled' });
});

it('a task that a restart interrupts goes on with the same call, and its cursors with it', async () => {
  const { begun } = endlessWork();
  const sent = await send();
  await begun;
  await host.close();
  set.work = async () => 'again';
  await start();
  const events = await endedEvents(sent);
  expect(ofKind(events, 'tool-start')).toHaveLength(1);
  expect(ofKind(events, 'tool-complete')).toMatchObject([{ success: true, result: 'again' }]);
  const cursors = events.map(({ cursor }) => cursor);
  expect(cursors).toEqual([...new Set(cursors)].toSorted((a, b) => a - b));
});

it('a sub-workflow is a subtask: announced before it begins, waited for while it works', async () => {
  const { promise: parentWaits, resolve } = Promise.withResolvers<Json>();
  set.work = () => parentWaits;
  const created = await ask('POST', '/v1/runs', { workflowId: 'parent' });
  const { runId, contextId } = (await created.json()) as { runId: string; contextId: string };
  const isWaiting = ({ status }: JsonObject): boolean => status === 'waiting-subtask';
  await until(await ask('GET', `/api/contexts/${contextId}/stream?after=0`), ({ data: event }) => isWaiting(event));
  const task = await (await ask('GET', `/api/contexts/${contextId}/tasks/${runId}`)).json();
  expect(task).toMatchObject({ status: 'waiting-subtask', pending: [{ type: 'subtask', id: `${runId}.0` }] });
  resolve(null);
  const events = await endedEvents({ contextId, taskId: runId });
  const child = `${runId}.0`;
  const life = events.filter(({ kind }) => ['subtask-created', 'task-created', 'task-status'].includes(kind));
  expect(life.map(({ kind, taskId, status }) => [taskId, status ?? kind])).toEqual([
    [runId, 'task-created'],
    [runId, 'working'],
    [runId, 'subtask-created'],
    [child, 'task-created'],
    [child, 'working'],
    [runId, 'waiting-subtask'],
    [child, 'completed'],
    [runId, 'working'],
    [runId, 'completed'],
  ]);
  const [announced] = ofKind(events, 'subtask-created');
  expect(announced).toMatchObject({ subtaskId: child, prompt: 'Find the parcel.' });
  const [begun] = ofKind(events, 'task-created').filter(({ taskId }) => taskId === child);
  expect(begun).toMatchObject({ agentId: 'host:desk', metadata: { toolCallId: announced?.toolCallId } });
  const [spawning] = ofKind(events, 'tool-start').filter(({ taskId }) => taskId === runId);
  expect(spawning).toMatchObject({ toolCallId: announced?.toolCallId, agentId: 'core.system' });
  const [waiting] = events.filter(isWaiting);
  expect(waiting).toMatchObject({ metadata: { blockedBy: child, pending: [{ type: 'subtask', id: child }] } });
});

it('a cancel ends the lowest tasks first, and closes the questions that are open', async () => {
  set.work = (context) => context.ask({ prompt: 'Where to?', urgency: 'high' });
  const created = await ask('POST', '/v1/runs', { workflowId: 'grandparent' });
  const { runId, contextId } = (await created.json()) as { runId: string; contextId: string };
  const lowest = `${runId}.0.0`;
  const isAsked = ({ taskId, status }: JsonObject): boolean => taskId === lowest && status === 'waiting-input';
  const stream = await ask('GET', `/api/contexts/${contextId}/stream?after=0`);
  await until(stream, ({ data: event }) => isAsked(event));
  await ask('POST', `/api/contexts/${contextId}/tasks/${runId}/cancel`, { reason: 'enough' });
  const events = await endedEvents({ contextId, taskId: runId });
  const ends = events.filter(({ status }) => status === 'canceled');
  expect(ends.map(({ taskId, metadata }) => [taskId, (metadata as JsonObject).reason])).toEqual([
    [lowest, 'canceled_by_parent'],
    [`${runId}.0`, 'canceled_by_parent'],
    [runId, 'canceled_by_user'],
  ]);
  const asked = ofKind(events, 'input-required');
  expect(asked.find(({ taskId }) => taskId === lowest)).toMatchObject({ metadata: { urgency: 'high' } });
  const closed = ofKind(events, 'input-received');
  expect(new Set(closed.map(({ inputId }) => inputId))).toEqual(new Set(asked.map(({ inputId }) => inputId)));
  expect(closed).toHaveLength(2);
  for (const { taskId, userId, agentId, metadata } of closed) {
    expect(metadata).toMatchObject({ outcome: 'canceled' });
    // The user canceled the root. The host canceled what is below it.
    expect([userId, agentId]).toEqual(taskId === runId ? ['ann', undefined] : [undefined, 'core.system']);
  }
  // Nothing says that a task works again because a task below it ended.
  const after = events.filter(({ cursor }) => cursor > (closed[0]?.cursor ?? 0));
  expect(after.filter(({ status }) => status === 'working')).toEqual([]);
});
