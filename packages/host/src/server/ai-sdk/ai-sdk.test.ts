/** The published chat of the AI SDK, with its default transport, against a whole host. */
import { Chat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunk } from '../../../test/kit/fake-openai.ts';
import { calls, keys, openShop, resultsIn, type Shop, says, thinks } from './shop.kit.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop[Symbol.asyncDispose]());

const api = () => `${shop.url}/api/ai-sdk/host:desk`;
const headers = { authorization: `Bearer ${keys.ann}` };

function newChat(options: { id?: string; messages?: UIMessage[]; tools?: object[] } = {}): Chat<UIMessage> {
  const { tools, ...rest } = options;
  return new Chat({
    ...rest,
    transport: new DefaultChatTransport({ api: api(), headers, body: { tools } }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
  });
}

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|') ?? '';

/** The ids that every message of an agent has. */
const idsOf = (message: UIMessage | undefined) => (message?.metadata ?? {}) as { contextId?: string; taskId?: string };

const toolsOf = (message: UIMessage | undefined) => message?.parts.filter(isToolUIPart) ?? [];

it('streams an answer with reasoning, a tool of the host, its progress and its file', async () => {
  shop.script = (request) =>
    resultsIn(request) === 0 ? calls({ name: 'acme:look', input: { order: 'A1' } }) : thinks('Hm.', 'It is ', '180.');
  const chat = newChat();
  await chat.sendMessage({ text: 'Where is A1?' });
  expect(chat.error).toBeUndefined();
  const message = chat.lastMessage;
  expect(textOf(message)).toBe('It is 180.');
  expect(message?.parts.find((part) => part.type === 'reasoning')).toMatchObject({ text: 'Hm.', state: 'done' });
  expect(toolsOf(message)).toMatchObject([
    { toolName: 'acme:look', state: 'output-available', input: { order: 'A1' }, output: { euros: 180 } },
  ]);
  const kinds = message?.parts.map(({ type }) => type);
  expect(kinds).toEqual(expect.arrayContaining(['data-progress', 'data-artifact', 'file', 'data-usage']));
  const file = message?.parts.find((part) => part.type === 'file');
  const content = await fetch(shop.url + file?.url, { headers });
  expect(await content.text()).toBe('# Order A1');
  expect(message?.metadata).toMatchObject({ status: 'completed', usage: { totalTokens: 10 } });
});

it('asks for an approval, and goes on with the response in the same message', async () => {
  shop.script = (request) =>
    resultsIn(request) === 0 ? calls({ name: 'acme:refund', input: { order: 'A1' } }) : says('Done.');
  for (const approved of [true, false]) {
    const chat = newChat();
    await chat.sendMessage({ text: 'Refund A1.' });
    expect(chat.status).toBe('ready');
    const [asked] = toolsOf(chat.lastMessage);
    expect(asked).toMatchObject({ state: 'approval-requested', approval: { requestReason: 'Refund A1?' } });
    const id = asked?.approval?.id ?? '';
    await responded(chat, () => chat.addToolApprovalResponse({ id, approved }));
    expect(textOf(chat.lastMessage)).toBe('Done.');
    expect(toolsOf(chat.lastMessage)).toMatchObject([
      { state: 'output-available', output: { paid: approved }, approval: { id, approved } },
    ]);
    expect(chat.messages).toHaveLength(2);
  }
});

it('takes a no with its reason, also where only a yes is an answer', async () => {
  shop.script = (request) => (resultsIn(request) === 0 ? calls({ name: 'acme:terms', input: {} }) : says('Then not.'));
  const chat = newChat();
  await chat.sendMessage({ text: 'Sign me up.' });
  const id = toolsOf(chat.lastMessage)[0]?.approval?.id ?? '';
  await responded(chat, () => chat.addToolApprovalResponse({ id, approved: false, reason: 'too long' }));
  expect([chat.error, textOf(chat.lastMessage)]).toEqual([undefined, 'Then not.']);
  expect(toolsOf(chat.lastMessage)).toMatchObject([
    { state: 'output-error', errorText: 'The question was rejected: too long' },
  ]);
});

/** Waits for the request that an answer sends by itself. */
async function responded(chat: Chat<UIMessage>, act: () => void | PromiseLike<void>): Promise<void> {
  const done = Promise.withResolvers<void>();
  let wasBusy = false;
  const stop = chat['~registerStatusCallback'](() => {
    wasBusy ||= chat.status === 'submitted' || chat.status === 'streaming';
    if (wasBusy && (chat.status === 'ready' || chat.status === 'error')) done.resolve();
  });
  await act();
  await done.promise;
  stop();
}

it('asks a question as a tool call whose output is the answer, also after a reload', async () => {
  shop.script = (request) => (resultsIn(request) === 0 ? calls({ name: 'acme:wish', input: {} }) : says('Fine.'));
  const first = newChat();
  await first.sendMessage({ text: 'What now?' });
  const chat = newChat({ id: first.id });
  await chat.resumeStream();
  expect(chat.lastMessage).toEqual(first.lastMessage);
  const asked = toolsOf(chat.lastMessage).findLast(
    (part) => part.type === 'dynamic-tool' && part.toolName === 'cairn.question',
  );
  expect(asked).toMatchObject({
    input: { prompt: 'Money or goods?', options: [{ value: 'money' }, { value: 'goods' }] },
  });
  const toolCallId = asked?.toolCallId ?? '';
  await responded(chat, () => chat.addToolOutput({ tool: 'cairn.question', toolCallId, output: 'goods' }));
  expect(chat.error).toBeUndefined();
  expect(textOf(chat.lastMessage)).toBe('Fine.');
  expect(toolsOf(chat.lastMessage).map(({ output }) => output)).toEqual([{ wants: 'goods' }, 'goods']);
});

it('shows a message once after a reload in the middle of it, and leaves the run going when the page goes away', async () => {
  const rest = Promise.withResolvers<void>();
  shop.script = () => ({
    chunks: (async function* () {
      yield chunk({ content: 'Once ' });
      await rest.promise;
      yield chunk({ content: 'upon a time.' });
      yield chunk({}, 'stop');
    })(),
  });
  const first = newChat();
  const begun = Promise.withResolvers<void>();
  const stop = first['~registerMessagesCallback'](() => {
    if (first.lastMessage?.role === 'assistant' && textOf(first.lastMessage) !== '') begun.resolve();
  });
  const sending = first.sendMessage({ text: 'Tell.' });
  await begun.promise;
  stop();
  await first.stop();
  await sending;
  const chat = newChat({ id: first.id, messages: first.messages });
  const resumed = chat.resumeStream();
  rest.resolve();
  await resumed;
  expect(chat.messages.map(textOf)).toEqual(['Tell.', 'Once upon a time.']);
  const again = newChat({ id: first.id });
  await again.resumeStream();
  expect(again.messages).toEqual([]);
});

it('regenerates as a retry that does not know the first answer', async () => {
  shop.script = () => says('One.');
  const chat = newChat();
  await chat.sendMessage({ text: 'Count.' });
  const first = chat.lastMessage;
  shop.script = () => says('Two.');
  await chat.regenerate();
  expect(chat.messages.map(textOf)).toEqual(['Count.', 'Two.']);
  expect(JSON.stringify(shop.requests.at(-1)?.body)).not.toContain('One.');
  const { contextId } = idsOf(chat.lastMessage);
  const page = await fetch(`${shop.url}/api/contexts/${contextId}/events?kinds=task-created`, { headers });
  const { events } = (await page.json()) as { events: { metadata: object }[] };
  expect(events.map(({ metadata }) => metadata)).toMatchObject([
    { message: { content: 'Count.' } },
    { message: { content: 'Count.' }, retryOf: first?.id },
  ]);
  // The next turn knows the second answer, and the first one still not.
  await chat.sendMessage({ text: 'More.' });
  expect(JSON.stringify(shop.requests.at(-1)?.body)).toContain('Two.');
  expect(JSON.stringify(shop.requests.at(-1)?.body)).not.toContain('One.');
});

it('regenerates the answer to the message that the page shows last, also after later tasks', async () => {
  shop.script = () => says('One.');
  const chat = newChat();
  await chat.sendMessage({ text: 'Count.' });
  const first = idsOf(chat.lastMessage);
  // An edit of an artifact is a task of the same context.
  const edit = `${shop.url}/api/contexts/${first.contextId}/artifacts/notes.md`;
  expect((await fetch(edit, { method: 'PUT', headers, body: 'Notes.' })).status).toBe(201);
  await chat.regenerate();
  expect([chat.error, textOf(chat.lastMessage)]).toEqual([undefined, 'One.']);
  const second = idsOf(chat.lastMessage);
  await chat.sendMessage({ text: 'Count on.' });
  await chat.regenerate({ messageId: chat.messages[0]?.id ?? '' });
  expect(chat.messages.map(textOf)).toEqual(['Count.', 'One.']);
  const page = await fetch(`${shop.url}/api/contexts/${first.contextId}/events?kinds=task-created`, { headers });
  const { events } = (await page.json()) as { events: { agentId: string; metadata: object }[] };
  const retries = events.flatMap(({ metadata }) => ('retryOf' in metadata ? [metadata] : []));
  expect(retries).toMatchObject([
    { message: { content: 'Count.' }, retryOf: first.taskId },
    { message: { content: 'Count.' }, retryOf: second.taskId },
  ]);
});

it('tells a page that its task failed, and one that it was cancelled', async () => {
  shop.script = () => ({ status: 400, body: { error: { message: 'no' } } });
  const failed = newChat();
  await failed.sendMessage({ text: 'Fail.' });
  expect([failed.status, failed.error?.message]).toEqual(['error', expect.stringContaining('no')]);

  shop.script = (request) =>
    resultsIn(request) === 0 ? calls({ name: 'acme:refund', input: { order: 'A1' } }) : says('Done.');
  const chat = newChat();
  await chat.sendMessage({ text: 'Refund A1.' });
  const { contextId, taskId } = idsOf(chat.lastMessage);
  const cancel = `${shop.url}/api/contexts/${contextId}/tasks/${taskId}/cancel`;
  const [response] = await Promise.all([fetch(cancel, { method: 'POST', headers }), chat.sendMessage()]);
  expect(response.status).toBe(202);
  await chat.sendMessage();
  expect(chat.status).toBe('ready');
  expect(toolsOf(chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
});

it('has the page execute its own tools, beside those of the host, and takes their failures', async () => {
  const tools = [{ name: 'pick_color', description: 'Picks.', parameters: { type: 'object', properties: {} } }];
  shop.script = (request) =>
    resultsIn(request) === 0
      ? calls({ name: 'pick_color', input: {} }, { name: 'acme:look', input: { order: 'A1' } })
      : says('Green.');
  for (const result of [{ output: 'green' }, { state: 'output-error', errorText: 'The picker broke.' }] as const) {
    const chat = newChat({ tools });
    await chat.sendMessage({ text: 'Pick.' });
    const [own, host] = toolsOf(chat.lastMessage);
    expect(own).toMatchObject({ type: 'tool-pick_color', state: 'input-available', input: {} });
    expect(host).toMatchObject({ toolName: 'acme:look', state: 'output-available' });
    const toolCallId = own?.toolCallId ?? '';
    await responded(chat, () => chat.addToolOutput({ tool: 'pick_color', toolCallId, ...result }));
    expect(chat.error).toBeUndefined();
    expect(toolsOf(chat.lastMessage)[0]).toMatchObject(
      'output' in result ? { state: 'output-available', output: 'green' } : result,
    );
    expect(textOf(chat.lastMessage)).toBe('Green.');
    expect(JSON.stringify(shop.requests.at(-1)?.body)).toContain('output' in result ? 'green' : 'The picker broke.');
  }
});
