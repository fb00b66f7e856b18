/** What the host cannot take: messages without agents, and what passes the size of an event or the quota of a tenant. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { type Ask, askUrl } from '../ask.kit.ts';
import { createHost, type Host } from '../create-host.ts';
import { served } from '../served.kit.ts';

const key = 'a-key-of-enough-characters';
const data = mkdtempSync(join(tmpdir(), 'cairn-refusals-'));
let host: Host;

beforeAll(async () => {
  host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't' }], limits: { tenantLogBytes: 900_000 } },
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'Answer.',
        rehearsal: { turns: [[{ say: 'Yes.' }]] },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'asks',
        version: '1',
        nodes: {
          ask: {
            type: 'core.interrupt',
            config: { kind: 'custom', data: { customKind: 'local.test', payload: {} } },
          },
        },
      }),
    ],
    report: () => undefined,
  });
});
afterAll(async () => {
  await host.close();
  rmSync(data, { recursive: true, force: true });
});

const message = (content: string) => ({ message: { role: 'user', content }, agentId: 'host:desk' });
const post = (path: string, ask: Pick<Ask, 'body' | 'raw'>) =>
  askUrl(`${host.url}${path}`, 'POST', { key, headers: { prefer: 'respond-async' }, ...ask });

const aguiRun = (threadId: string, content: string) => ({
  threadId,
  runId: 'r',
  messages: [{ id: 'm', role: 'user', content }],
});

it('a host that runs no agents says so', async () => {
  const none = await served();
  for (const path of ['/api/messages', '/api/contexts/ctx_none/messages']) {
    const reply = await none.ask('POST', path, { body: message('Hello?') });
    expect([reply.status, reply.body.error]).toEqual([400, 'capability_required']);
  }
  const run = await none.ask('POST', '/api/agui/host:desk', { body: aguiRun('thread', 'Hello?') });
  expect([run.status, run.body.error]).toEqual([400, 'capability_required']);
});

it('an answer larger than any value is refused, one beyond the quota too, and the question stays open', async () => {
  const started = await host.engine.start({ tenant: 't', workflowId: 'asks', inputs: {}, options: {} });
  const path = `/api/contexts/${started.contextId}`;
  const { body } = await askUrl(`${host.url}${path}/tasks`, 'GET', { key });
  const inputId = /"type":"input","id":"([^"]+)"/.exec(JSON.stringify(body))?.[1];
  const numbers = Array.from({ length: 100_000 }, () => '1e20').join(',');
  const large = await post(`${path}/inputs/${inputId}`, { raw: `{"value":{"a":[${numbers}]}}` });
  expect([large.status, large.body.error]).toEqual([413, 'event_too_large']);
  const resume = `[{"interruptId":"${inputId}","status":"resolved","payload":{"a":[${numbers}]}}]`;
  const run = await post('/api/agui/host:desk', {
    raw: `{"threadId":"${started.contextId}","runId":"r","messages":[],"resume":${resume}}`,
  });
  expect([run.status, run.body.error]).toEqual([413, 'event_too_large']);

  const said = 'x'.repeat(120_000);
  const codes = new Set<unknown>();
  let contextId = '';
  for (let i = 0; i < 12; i++) {
    const reply = await post('/api/messages', { body: message(said) });
    codes.add(reply.body.error ?? reply.status);
    contextId = String(reply.body.contextId ?? contextId);
  }
  expect([...codes]).toEqual([202, 'quota_exceeded']);
  const further = await post(`/api/contexts/${contextId}/messages`, { body: message(said) });
  expect(further.body.error).toBe('quota_exceeded');
  expect((await post('/api/agui/host:desk', { body: aguiRun('thread', said) })).body.error).toBe('quota_exceeded');
  const answer = await post(`${path}/inputs/${inputId}`, { body: { value: { text: 'x'.repeat(400_000) } } });
  expect(answer.body.error).toBe('quota_exceeded');
  const after = await askUrl(`${host.url}${path}/tasks`, 'GET', { key });
  expect(JSON.stringify(after.body)).toContain('"waiting-input"');
});
