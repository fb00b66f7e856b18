/** The example of a tool that the client executes, and of its call that is canceled. */
import { z } from 'zod';
import { defineAgent } from '../../packages/host/src/agents/define-agent.ts';
import { field, type Sent, until } from './example-story.ts';

export const guide = defineAgent({
  id: 'host:guide',
  persona: 'Guide',
  instructions: 'Help the user to choose.',
  tools: ['client:*'],
  rehearsal: { turns: [[{ call: { tool: 'client:pick_color', input: {} } }], [{ say: 'Red, then.' }]] },
});

const pickColor = { name: 'pick_color', description: 'Lets the user pick a color.', parameters: { type: 'object' } };

export async function clientTools(send: Sent): Promise<void> {
  const message = { role: 'user', content: 'Which color?' };
  const body = { message, agentId: 'host:guide', tools: [pickColor] };
  const headers = { prefer: 'respond-async' };
  const task = await send({ id: 'sendMessage', request: { body, headers }, isSilent: true });
  const contextId = field(task, 'contextId');
  await until(send, field(task, 'taskId'), 'waiting-external');
  const query = { after: 0, kinds: 'tool-start' };
  const page = await send({ id: 'listContextEvents', request: { path: { contextId }, query }, isSilent: true });
  const { toolCallId } = called.parse(page).events[0];
  await send({
    id: 'cancelToolCall',
    request: { path: { contextId, toolCallId }, body: { reason: 'no longer needed' } },
  });
}

const called = z.object({ events: z.tuple([z.object({ toolCallId: z.string() })]) });
