/** The chain of causes from any event of a run up to the event of another run that requested it. */
import { CAUSATION_KEY, causes as causesShape, type JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { askUrl } from '../ask.kit.ts';
import { createHostOver } from '../create-host.ts';

const keys = {
  operator: 'operator-key-0123456789-abcdefghijk',
  beta: 'beta-key-0123456789-abcdefghijklmnop',
  stranger: 'stranger-key-0123456789-abcdefghijkl',
};
const beta = 'hosts.example.org/beta';

const leaf = defineWorkflow({ id: 'leaf', version: '1', nodes: { only: { type: 'core.noop' } } });
const top = defineWorkflow({
  id: 'top',
  version: '1',
  nodes: { below: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
});

const large = defineWorkflow({
  id: 'large',
  version: '1',
  nodes: Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [
      `set${i}`,
      { type: 'core.setVariable', config: { name: `v${i}`, expression: 'inputs.text' } },
    ]),
  ),
});

async function host() {
  const started = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    workflows: [leaf, top, large],
    config: {
      port: 0,
      hostId: 'alpha',
      peers: [{ hostId: beta, url: 'https://beta.example.org' }],
      keys: [
        { key: keys.operator, tenant: 't', scopes: ['runs:read', 'audit:read'] },
        { key: keys.beta, tenant: 't', peer: beta },
        { key: keys.stranger, tenant: 'other' },
      ],
    },
  });
  const ask = async (
    method: string,
    path: string,
    { key = keys.beta, body }: { key?: string; body?: JsonObject } = {},
  ) => askUrl(`${started.url}${path}`, method, { key, ...(body !== undefined && { body }) });
  const ended = async (body: JsonObject): Promise<string> => {
    const runId = String((await ask('POST', '/v1/runs', { body })).body.runId);
    await ask('GET', `/v1/runs/${runId}/events/poll?timeout=10&lastSequence=1000`);
    return runId;
  };
  const causes = async (runId: string, query = '', key = keys.operator) => {
    const { status, body } = await ask('GET', `/v1/host/cairn/runs/${runId}/causes${query}`, { key });
    expect(status).toBe(200);
    return causesShape.parse(body);
  };
  return { ask, ended, causes, [Symbol.asyncDispose]: () => started.close() };
}

const statement = {
  runId: 'run-on-beta',
  hostId: beta,
  eventId: 'ev-17',
  wellKnownUrl: 'https://beta.example.org/.well-known/openwop',
};

test('leads from the last event of a child to the first of its parent, and to the event of the other host', async () => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'top', metadata: { [CAUSATION_KEY]: statement } });
  const child = `${runId}.0`;
  const all = await to.causes(child);
  expect(all.events.map(({ sequence }) => sequence)).toEqual(all.events.map((_, i) => i));
  expect(all.next).toBeNull();
  const last = all.events.length - 1;
  const chain = await to.causes(child, `?of=${last}`);
  expect(chain.events.map(({ hash }) => hash?.length)).toEqual(chain.events.map(() => 64));
  expect(all.events.filter(({ hash }) => hash !== undefined)).toEqual([]);
  expect([chain.traceId?.length, all.traceId]).toEqual([32, undefined]);
  for (const [i, event] of chain.events.slice(0, -1).entries())
    expect(event.causationId).toBe(chain.events[i + 1]?.eventId);
  expect(chain.events.at(-1)).toMatchObject({ sequence: 0, type: 'run.started', causationId: chain.parent?.eventId });
  expect(chain.parent).toEqual({
    runId,
    hostId: 'alpha',
    eventId: expect.stringMatching(new RegExp(`^${runId}:\\d+$`)),
  });
  const above = await to.causes(runId, `?of=${chain.parent?.eventId.split(':').at(-1)}`);
  expect(above.events[0]).toMatchObject({ type: 'cairn.step.requested', nodeId: 'below' });
  const { runId: _, ...remote } = statement;
  expect(above.parent).toEqual({ ...remote, runId: 'run-on-beta' });
  expect(above.events.at(-1)).toMatchObject({ type: 'run.started', causationId: 'ev-17', causationHostId: beta });
});

test('atSeq shows the causes of a moment', async () => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'top' });
  const { events, parent } = await to.causes(runId);
  const then = await to.causes(runId, '?atSeq=2');
  expect(then).toMatchObject({ events: events.slice(0, 3), next: null, parent });
  const [last, same] = [await to.causes(runId, '?of=last&atSeq=2'), await to.causes(runId, '?of=2')];
  expect(last).toEqual(same);
  for (const query of ['?of=3&atSeq=2', '?atSeq=9999', '?atSeq=x']) {
    const { status, body } = await to.ask('GET', `/v1/host/cairn/runs/${runId}/causes${query}`);
    expect([status, body.error], query).toEqual([400, 'validation_error']);
  }
});

test('shows only the place of an event that the caller may not see', async () => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'top' });
  const [seen, hidden] = [await to.causes(runId), await to.causes(runId, '', keys.beta)];
  const requested = seen.events.findIndex(({ type }) => type === 'cairn.step.requested');
  expect(Object.keys(hidden.events[requested] ?? {})).toEqual(['eventId', 'sequence', 'timestamp']);
  expect(hidden.events[0]).toEqual(seen.events[0]);
});

test.for([
  ['?of=99999', 400, 'validation_error'],
  ['?of=-1', 400, 'validation_error'],
  ['?after=x', 400, 'validation_error'],
] as const)('%s is refused', async ([query, status, error]) => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'leaf' });
  expect(await to.ask('GET', `/v1/host/cairn/runs/${runId}/causes${query}`)).toMatchObject({ status, body: { error } });
});

test("an unknown run and another tenant's run are both unknown", async () => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'leaf' });
  for (const id of [runId, 'run_unknown']) {
    const reply = await to.ask('GET', `/v1/host/cairn/runs/${id}/causes`, { key: keys.stranger });
    expect(reply).toMatchObject({ status: 404, body: { error: 'not_found' } });
  }
});

test('looks through half a megabyte for a page, and shows each event once', async () => {
  await using to = await host();
  const runId = await to.ended({ workflowId: 'large', inputs: { text: 'x'.repeat(100_000) } });
  const pages = [await to.causes(runId)];
  for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null)
    pages.push(await to.causes(runId, `?after=${next}`));
  const events = pages.flatMap((page) => page.events);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
  // One variable is in each event of a node that sets it, in payload and task face.
  expect(Math.max(...pages.map((page) => page.events.length))).toBeLessThanOrEqual(6);
});
