/** The switch that masks key-shaped text in what callers send, over a real host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { askUrl } from '../ask.kit.ts';
import { createHost } from '../create-host.ts';
import { chain } from '../sample-workflows.kit.ts';

const KEY = 'key-of-key-shapes-test';
const SHAPED = 'sk-0123456789abcdef0123';
const SEALED = 'sk-fedcba9876543210fedc';
const token = { type: 'variable', variableName: 'token' } as const;

async function bench(maskKeyShapes: boolean) {
  const data = mkdtempSync(join(tmpdir(), 'cairn-key-shapes-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const seen: unknown[] = [];
  const look = defineStep({
    name: 'look',
    safety: 'read',
    run: async (given) => {
      seen.push(given.token);
      return {};
    },
  });
  const flow = chain('flow', { typeId: 'core.approvalGate', config: { title: 'Go?' } }, { typeId: 'local.step.look' });
  const host = await createHost({
    config: { port: 0, data, maskKeyShapes, keys: [{ key: KEY, tenant: 'a', principal: 'p' }] },
    steps: [look],
    workflows: [
      {
        ...flow,
        nodes: flow.nodes.map((node, i) => (i === 1 ? { ...node, inputs: { token } } : node)),
        variables: [
          { name: 'text', type: 'string' },
          { name: 'token', type: 'string', sensitive: true },
        ],
      },
    ],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const ask = (method: string, path: string, body?: JsonObject) =>
    askUrl(`${host.url}${path}`, method, { key: KEY, ...(body === undefined ? {} : { body }) });
  return { ask, seen };
}

/** A run that gets the text in every way but the sensitive variable, and all that is shown of it. */
async function story({ ask }: Awaited<ReturnType<typeof bench>>): Promise<string> {
  const started = await ask('POST', '/v1/runs', {
    workflowId: 'flow',
    inputs: { text: `first ${SHAPED}`, token: SEALED },
    metadata: { note: `second ${SHAPED}` },
    tags: [`third ${SHAPED}`],
  });
  expect([started.status, started.text]).toEqual([201, expect.anything()]);
  const run = `/v1/runs/${String(started.body.runId)}`;
  const answered = await ask('POST', `${run}/interrupts/n0`, {
    resumeValue: { action: 'accept', comment: `fourth ${SHAPED}` },
  });
  expect([answered.status, answered.text]).toEqual([200, expect.anything()]);
  await expect.poll(async () => (await ask('GET', run)).body.status).toBe('completed');
  const cancelled = await ask('POST', '/v1/runs', { workflowId: 'flow', inputs: {} });
  const other = `/v1/runs/${String(cancelled.body.runId)}`;
  await ask('POST', `${other}/cancel`, { reason: `fifth ${SHAPED}` });
  const shown = [run, `${run}/events`, other, `${other}/events`].map(async (path) => (await ask('GET', path)).text);
  return (await Promise.all(shown)).join('\n');
}

const ways = ['first', 'second', 'third', 'fourth', 'fifth'];

test('with the switch, key-shaped text is masked in log and snapshot, and a sensitive variable still gets it', async () => {
  const host = await bench(true);
  const shown = await story(host);
  for (const way of ways) expect(shown).toContain(`${way} [REDACTED]`);
  expect(shown).not.toContain('sk-');
  expect(host.seen).toEqual([SEALED]);
});

test('without the switch, key-shaped text is kept as it is', async () => {
  const host = await bench(false);
  const shown = await story(host);
  for (const way of ways) expect(shown).toContain(`${way} ${SHAPED}`);
  expect(shown).not.toContain(SEALED);
});
