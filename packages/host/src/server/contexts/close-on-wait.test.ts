/** A stream that closes when its task waits has said what the task waits for. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { agentOf, CalledHost, calls, keys, says } from './called-host.kit.ts';
import { type Frame, frames } from './talk.kit.ts';

const asking = defineTool({
  id: 'acme.desk:ask',
  description: 'Asks.',
  input: z.object({}),
  safety: 'read',
  run: async (_, { ask }) => ask({ prompt: 'Which one?' }),
});
const held = defineAgent({
  id: 'host:unsure',
  persona: 'Clerk',
  instructions: 'Decide.',
  confidenceThreshold: 0.9,
  rehearsal: { turns: [calls(['openwop_decide', { decision: 'refund', confidence: 0.4 }])] },
});
const curious = agentOf('host:curious', [calls(['acme.desk:ask', {}]), says('Done.')]);

const host = new CalledHost([held, curious], [asking]);
beforeAll(() => host.start());
afterAll(() => host.close());

async function untilClosed(agentId: string): Promise<readonly Frame[]> {
  const response = await fetch(`${host.url}/api/messages?closeOn=waiting`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.ann}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { role: 'user', content: 'Go.' }, agentId }),
  });
  const found: Frame[] = [];
  for await (const frame of frames(response)) found.push(frame);
  return found;
}

it('closes after the question of a held decision, which comes after its status', async () => {
  const found = await untilClosed('host:unsure');
  expect(found.slice(-3).map(({ event }) => event)).toEqual(['task-status', 'input-required', 'stream:closing']);
  expect(found.at(-3)?.data).toMatchObject({ status: 'waiting-input' });
  expect(found.at(-2)?.data).toMatchObject({ metadata: { reason: 'low-confidence', decision: 'refund' } });
  expect(found.at(-1)?.data).toMatchObject({ reason: 'task-waiting' });
});

it('closes at the status that follows the question of a tool', async () => {
  const found = await untilClosed('host:curious');
  expect(found.slice(-3).map(({ event }) => event)).toEqual(['input-required', 'task-status', 'stream:closing']);
  expect(found.at(-1)?.data).toMatchObject({ reason: 'task-waiting' });
});
