/** The examples of other protocols: front ends of the AI SDK and of AG-UI, and A2A peers. */
import type { Sent } from './example-story.ts';

interface Read {
  readonly taskId: string;
  readonly agentId: string;
}

export async function peers(send: Sent, { taskId, agentId }: Read): Promise<void> {
  await send({ id: 'callMcp', request: { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } } });
  const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const params = { name: 'agent.host.clerk', arguments: { message: 'How many orders?' } };
  const called = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
  const stream = await send({ id: 'callMcp', request: { headers: accept, body: called }, isSilent: true });
  const [, id = ''] = /^id: (.*)$/m.exec(String(stream)) ?? [];
  await send({ id: 'resumeMcp', request: { headers: { 'last-event-id': id } }, hasStream: true, isEndless: true });
  const headers = { 'a2a-version': '1.0' };
  const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: taskId } };
  await send({ id: 'callA2a', request: { headers, body } });
  await send({ id: 'callA2aSkill', request: { path: { skillId: agentId }, headers, body } });
  await send({ id: 'getA2aSkillCard', request: { path: { skillId: agentId }, headers } });
  for (const id of ['getAgentCard', 'getA2aCard']) await send({ id, request: { headers } });
}

/** A message of each front end to an agent. */
export async function frontEnds(send: Sent, agent: { readonly agentId: string }): Promise<void> {
  const chat = { id: 'Kx3bT9qLw2', messages: [{ id: 'uQ7', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }] };
  await send({
    id: 'sendAiSdkChat',
    request: { path: agent, body: { ...chat, trigger: 'submit-message' } },
    hasStream: true,
    isEndless: true,
  });
  await send({ id: 'resumeAiSdkChat', request: { path: { ...agent, chatId: 'Kx3bT9qLw2' } } });
  const body = {
    threadId: 'thread-1',
    runId: 'run-1',
    messages: [{ id: 'message-1', role: 'user', content: 'My parcel is late.' }],
    tools: [],
  };
  await send({ id: 'runAgui', request: { path: agent, body }, hasStream: true, isEndless: true });
}
