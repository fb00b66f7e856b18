/** Holds the pages about interrupts, the inbox, conversations and webhooks to what a host answers, and to the code they describe. */
import { createHmac } from 'node:crypto';
import { audienceOf, eventTypes, MAX_PARTICIPANTS, MAX_TOKEN_SECONDS, type WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { TOKEN_LIFE_MS } from '../../packages/host/src/server/inbox/interrupt-tokens.ts';
import { callbackPolicy } from '../../packages/host/src/server/webhooks/callbacks.ts';
import { FAILED_AFTER, OPEN_MS, OPENS_AFTER } from '../../packages/host/src/server/webhooks/circuit.ts';
import { webhookPolicy } from '../../packages/host/src/server/webhooks/deliveries.ts';
import { KEPT_DEAD_LETTERS } from '../../packages/host/src/server/webhooks/delivery-state.ts';
import { backoffMs } from '../../packages/host/src/server/webhooks/pump.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../packages/host/src/server/webhooks/sender.ts';
import { MAX_WEBHOOKS } from '../../packages/host/src/server/webhooks/webhooks.ts';
import { exchangesOf, holdTo, referencePage } from './exchanges.ts';

const webhooks = referencePage('webhooks.md');
const interrupts = referencePage('interrupts.md');

const approval: WorkflowDefinition = {
  id: 'approval',
  name: 'approval',
  version: '1',
  nodes: [
    {
      id: 'gate',
      typeId: 'core.approvalGate',
      name: 'gate',
      position: { x: 0, y: 0 },
      config: { title: 'Go on?' },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

test.each([
  ['interrupts.md', 7],
  ['conversations.md', 8],
  ['inbox.md', 4],
  ['webhooks.md', 4],
  ['forks.md', 9],
])('every exchange of %s is answered as it says', async (name, count) => {
  const key = 'key-of-the-page-02';
  await using host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't' }], egress: { allow: ['http://127.0.0.1:9'] } },
    workflows: [approval],
    report: () => undefined,
  });
  const exchanges = exchangesOf(referencePage(name));
  expect(exchanges.length).toBeGreaterThanOrEqual(count);
  await holdTo(exchanges, host, key);
});

test('the types on the page are those that are delivered', () => {
  const section = webhooks.slice(webhooks.indexOf('## Types'));
  const listed = [...section.matchAll(/`([^`]+)`/g)].map(([, type]) => type);
  expect(listed).toEqual(eventTypes.filter((type) => audienceOf(type) === 'client').toSorted());
});

test('the numbers on the pages are those of the code', () => {
  const numbers = {
    life: TOKEN_LIFE_MS / 1_000,
    longest: MAX_TOKEN_SECONDS,
    callbacks: callbackPolicy.maxAttempts,
    row: OPENS_AFTER,
    pause: OPEN_MS,
    failed: FAILED_AFTER,
    letters: KEPT_DEAD_LETTERS,
    attempts: webhookPolicy.maxAttempts,
    runs: webhookPolicy.maxInFlight,
    timeout: ATTEMPT_TIMEOUT_MS,
    webhooks: MAX_WEBHOOKS,
    participants: MAX_PARTICIPANTS,
  };
  expect(numbers).toEqual({
    life: 1_800,
    longest: 86_400,
    callbacks: 8,
    row: 4,
    pause: 3_600_000,
    failed: 100,
    letters: 20,
    attempts: 28,
    runs: 8,
    timeout: 5_000,
    webhooks: 50,
    participants: 32,
  });
  expect(referencePage('conversations.md')).toContain('up to 32');
  const told = ['1,800 seconds', '86,400', 'eight times'].every((text) => interrupts.includes(text));
  const said = [
    'Four failures in a row',
    '28 failed attempts',
    '100 pauses',
    'newest 20',
    'Up to 8 runs',
    'within 5 seconds',
    'up to 50',
  ];
  expect([told, said.filter((text) => !webhooks.includes(text))]).toEqual([true, []]);
});

test('28 attempts take about a day, whether the receiver is left alone in between or not', () => {
  const waits = Array.from({ length: webhookPolicy.maxAttempts - 1 }, (_, i) => backoffMs(i + 1));
  const hours = waits.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(28);
});

test('the check on the page takes a genuine post and nothing else', async () => {
  const source = /```js\n([\s\S]*?)```/.exec(webhooks)?.[1] ?? '';
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    isGenuine: (headers: object, rawBody: Buffer, secret: string, nowMs: number) => boolean;
  };
  const [secret, body, now] = ['a-secret-to-sign-with', Buffer.from('{"é":1}'), 1_800_000_000_000];
  const timestamp = String(now / 1_000);
  const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = { 'x-openwop-timestamp': timestamp, 'x-openwop-signature': `sha256=${mac}` };
  expect(isGenuine(headers, body, secret, now)).toBe(true);
  expect(isGenuine(headers, body, 'another-secret-here', now)).toBe(false);
  expect(isGenuine(headers, Buffer.from('{}'), secret, now)).toBe(false);
  expect(isGenuine(headers, body, secret, now + 301_000)).toBe(false);
  expect(isGenuine({ 'x-openwop-timestamp': timestamp }, body, secret, now)).toBe(false);
  expect(isGenuine({}, body, secret, now)).toBe(false);
});
