/** Which values a sensitive variable takes, over a real host. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { fields } from '../../../test/kit/json-fields.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { createHost } from '../create-host.ts';

const KEY = 'key-of-sensitive-variables';
const place = { name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {} };
const makes: WorkflowNode = { ...place, id: 'makes', typeId: 'local.step.make' };
const sets: WorkflowNode = {
  ...place,
  id: 'sets',
  typeId: 'core.setVariable',
  config: { name: 'token' },
  inputs: { value: { type: 'connection', nodeId: 'makes', outputKey: 'token' } },
};
const looks: WorkflowNode = {
  ...place,
  id: 'looks',
  typeId: 'local.step.look',
  inputs: { token: { type: 'variable', variableName: 'token' } },
};
const hidden = { outputSensitivity: { token: true } };

const flow = (id: string, nodes: readonly WorkflowNode[]): WorkflowDefinition => ({
  id,
  name: id,
  version: '1',
  nodes: [...nodes],
  edges: nodes.slice(1).map((node, i) => ({
    id: `e${i}`,
    sourceNodeId: nodes[i]?.id ?? '',
    targetNodeId: node.id,
    targetInput: 'before',
  })),
  triggers: [],
  variables: [
    { name: 'token', type: 'string', sensitive: true },
    { name: 'size', type: 'number' },
  ],
  metadata: {},
  settings: {},
});

function folder(): string {
  const data = mkdtempSync(join(tmpdir(), 'cairn-sensitive-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

async function bench(data = folder()) {
  const seen: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const make = defineStep({
    name: 'make',
    safety: 'read',
    run: async ({ size }) => ({ token: 'x'.repeat(typeof size === 'number' ? size : 20) }),
  });
  const look = defineStep({
    name: 'look',
    safety: 'read',
    run: async ({ token }) => {
      seen.push(token);
      return { saw: token ?? null };
    },
  });
  const echo = defineStep({ name: 'echo', safety: 'read', run: async ({ token }) => ({ token: token ?? null }) });
  const wrap = defineStep({ name: 'wrap', safety: 'read', run: async ({ token }) => ({ token: `Bearer ${token}` }) });
  // Never gives a result: the host stops while it works.
  const issue = defineStep({
    name: 'issue',
    safety: 'write',
    run: () => {
      begun.resolve();
      return new Promise<never>(() => undefined);
    },
  });
  const host = await createHost({
    config: { port: 0, data, keys: [{ key: KEY, tenant: 'a', principal: 'p' }] },
    steps: [make, look, echo, wrap, issue],
    workflows: [
      flow('seals', [{ ...makes, ...hidden }, sets, looks]),
      flow('exposes', [makes, sets]),
      flow('is-large', [{ ...makes, ...hidden, config: { size: 20_000 } }]),
      flow('passes', [looks]),
      flow('echoes', [{ ...looks, ...hidden, id: 'makes', typeId: 'local.step.echo' }, sets, looks]),
      flow('wraps', [{ ...looks, ...hidden, id: 'makes', typeId: 'local.step.wrap' }, sets, looks]),
      flow('issues', [{ ...makes, ...hidden, typeId: 'local.step.issue' }, sets, looks]),
    ],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const ask = async (path: string, body?: JsonObject) => {
    const response = await fetch(`${host.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: fields(await response.json()) };
  };
  const ended = async (workflowId: string, inputs: JsonObject = {}): Promise<JsonObject> => {
    const { status, body } = await ask('/v1/runs', { workflowId, inputs });
    expect([status, body]).toEqual([201, expect.anything()]);
    for (;;) {
      const run = (await ask(`/v1/runs/${String(body.runId)}`)).body;
      if (run.status === 'completed' || run.status === 'failed') return run;
      await ask(`/v1/runs/${String(body.runId)}/events/poll?timeout=1`);
    }
  };
  return { ask, ended, seen, host, begun: begun.promise };
}

test('a sensitive output of a step can be kept in a sensitive variable, and later steps get its value', async () => {
  const { ended, seen } = await bench();
  const run = await ended('seals');
  expect(run).toMatchObject({ status: 'completed', variables: { token: '[REDACTED]' } });
  expect(seen).toEqual(['x'.repeat(20)]);
  expect(JSON.stringify(run)).not.toContain('xxxx');
});

test.each([
  ['echoes', 'value-of-the-caller'],
  ['wraps', 'Bearer value-of-the-caller'],
])('a step of the workflow %s can give a sensitive value back, and later steps get it', async (workflowId, value) => {
  const { ended, seen } = await bench();
  expect(await ended(workflowId, { token: 'value-of-the-caller' })).toMatchObject({ status: 'completed' });
  expect(seen).toEqual([value]);
});

test('the result that a person gives for an interrupted step is sealed like the result of the step', async () => {
  const data = folder();
  const before = await bench(data);
  const { body } = await before.ask('/v1/runs', { workflowId: 'issues' });
  const run = `/v1/runs/${String(body.runId)}`;
  await before.begun;
  await before.host.close();
  const { ask, seen, host } = await bench(data);
  const answer = (result: JsonObject) => ask(`${run}/interrupts/makes`, { resumeValue: { action: 'use', result } });
  expect(await answer({ token: 'y'.repeat(17_000) })).toMatchObject({
    status: 400,
    body: { error: 'validation_error' },
  });
  expect((await answer({ token: 'given-by-a-person', other: 'shown' })).status).toBe(200);
  while (!['completed', 'failed'].includes(String((await ask(run)).body.status))) {
    await ask(`${run}/events/poll?timeout=1`);
  }
  expect(seen).toEqual(['given-by-a-person']);
  const events = JSON.stringify((await ask(`${run}/events`)).body);
  expect([events.includes('given-by-a-person'), events.includes('shown')]).toEqual([false, true]);
  await host.close();
  const files = readdirSync(data).map((name) => readFileSync(join(data, name)));
  expect(files.some((bytes) => bytes.includes('given-by-a-person'))).toBe(false);
});

test('an output that the log holds already cannot become a sensitive variable', async () => {
  const { ended } = await bench();
  expect((await ended('exposes')).error).toMatchObject({
    code: 'config_validation_failed',
    message: expect.stringContaining('sensitive variable token'),
  });
});

test('a value that is too large to be sealed is refused', async () => {
  const { ask, ended } = await bench();
  const refused = await ask('/v1/runs', { workflowId: 'passes', inputs: { token: 'y'.repeat(17_000) } });
  expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error', details: { limit: 16_384 } } });
  expect((await ended('is-large')).error).toMatchObject({ code: 'event_too_large' });
});

test('a run without the value, or with null, goes on', async () => {
  const { ended } = await bench();
  expect(await ended('passes', { token: null })).toMatchObject({ status: 'completed', variables: { token: null } });
});
