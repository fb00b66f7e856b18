/** Stock AG-UI clients against a real host over HTTP. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Host } from '@cairn/host';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Client, gate, keys, openDesk } from './desk-host.ts';

const data = mkdtempSync(join(tmpdir(), 'cairn-agui-'));
let host: Host;
beforeAll(async () => {
  host = await openDesk(data);
  vi.spyOn(console, 'error').mockReturnValue(undefined);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await host.close();
  rmSync(data, { recursive: true, force: true });
});
beforeEach(() => {
  gate.shut();
  gate.open();
});

it('completes a run with text as it is written, a tool of the host, a question and its answer', async () => {
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  await client.run();
  expect(client.agent.pendingInterrupts).toMatchObject([{ reason: 'input_required', message: 'Where to?' }]);
  expect(client.types.filter((type) => type === 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThanOrEqual(4);
  const [question] = client.agent.pendingInterrupts;
  await client.run({ resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: 'Basel' }] });
  expect(client.agent.pendingInterrupts).toEqual([]);
  expect(client.texts).toEqual([
    'user: Where is my parcel?',
    'assistant: I look.',
    'tool: parcel is at the depot',
    'assistant: One question.',
    'tool: Basel',
    'assistant: All done.',
  ]);
  expect(client.agent.state).toEqual({ parcel: { what: 'parcel', at: 'depot' } });
  expect(client.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
});

const whole = [
  'user: Where is my parcel?',
  'assistant: I look.',
  'tool: parcel is at the depot',
  'assistant: One question.',
];

/** The context of a thread, which a run that joins it names. */
async function contextOf(threadId: string, key: string = keys.ann): Promise<string> {
  const body = { threadId, runId: crypto.randomUUID(), messages: [] };
  const response = await ask('POST', '/api/agui/host:desk', { body, key });
  await response.body?.cancel();
  return response.headers.get('cairn-context-id') ?? '';
}

const tasksOf = async (threadId: string): Promise<{ status: string }[]> => {
  const response = await ask('GET', `/api/contexts/${await contextOf(threadId)}/tasks`);
  return ((await response.json()) as { tasks: { status: string }[] }).tasks;
};

const ask = (method: string, path: string, options: { body?: unknown; raw?: string; key?: string } = {}) =>
  fetch(host.url + path, {
    method,
    headers: { authorization: `Bearer ${options.key ?? keys.ann}`, 'content-type': 'application/json' },
    ...((options.raw ?? options.body) !== undefined && { body: options.raw ?? JSON.stringify(options.body) }),
  });

/** Runs until the tool is at work, and cuts the connection there. */
async function cutRun(runId: string): Promise<Client> {
  gate.shut();
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  const run = client.run({ runId });
  await gate.reached;
  await vi.waitFor(() => expect(client.types).toContain('ACTIVITY_SNAPSHOT'));
  client.agent.abortRun();
  await run;
  return client;
}

it('shows a new client everything once when it repeats a run that was cut', async () => {
  const { agent, types } = await cutRun('run-1');
  expect(types).not.toContain('RUN_FINISHED');
  const { threadId } = agent;
  const late = new Client(host, 'host:desk', { threadId });
  const run = late.run({ runId: 'run-1' });
  await vi.waitFor(() => expect(late.types).toContain('MESSAGES_SNAPSHOT'));
  gate.open();
  await run;
  expect(late.texts).toEqual(whole);
  expect(late.agent.pendingInterrupts).toHaveLength(1);
  expect(await tasksOf(threadId)).toHaveLength(1);
  const [question] = late.agent.pendingInterrupts;
  await late.run({ resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: 'Basel' }] });
  expect(late.texts).toEqual([...whole, 'tool: Basel', 'assistant: All done.']);
});

it('shows the same client everything once when it repeats a run that was cut', async () => {
  const client = await cutRun('run-2');
  const run = client.run({ runId: 'run-2' });
  gate.open();
  await run;
  expect(client.texts).toEqual(whole);
});

it('goes on with a run after the host restarted', async () => {
  const { agent } = await cutRun('run-3');
  await host.close();
  gate.open();
  host = await openDesk(data);
  const late = new Client(host, 'host:desk', { threadId: agent.threadId });
  await late.run({ runId: 'run-3' });
  expect(late.texts).toEqual(whole);
  expect(await tasksOf(agent.threadId)).toHaveLength(1);
});

it('says that a run is not over when the host stops in the middle of it', async () => {
  gate.shut();
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  const run = client.run({ runId: 'run-4' });
  await gate.reached;
  await vi.waitFor(() => expect(client.types).toContain('ACTIVITY_SNAPSHOT'));
  await host.close();
  await run;
  expect(client.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'service_unavailable' });
  gate.open();
  host = await openDesk(data);
  const late = new Client(host, 'host:desk', { threadId: client.agent.threadId });
  await late.run({ runId: 'run-4' });
  expect(late.texts).toEqual(whole);
});

it('shows a run that is over again as it ended, also its answer, and starts nothing', async () => {
  const client = new Client(host, 'host:echo').say('Hi.');
  const { threadId } = client.agent;
  await Promise.all([
    client.run({ runId: 'r' }),
    new Client(host, 'host:echo', { threadId }).say('Hi.').run({ runId: 'r' }),
  ]);
  const again = new Client(host, 'host:echo', { threadId });
  await again.run({ runId: 'r' });
  expect(again.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
  expect(again.texts).toEqual(['user: Hi.', 'assistant: Hello there.']);
  expect(await tasksOf(threadId)).toHaveLength(1);
});

it('answers a question without a form with what the user says next', async () => {
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  await client.run();
  const { threadId } = client.agent;
  const late = new Client(host, 'host:desk', { threadId }).say('Basel');
  await late.run();
  expect(await tasksOf(threadId)).toMatchObject([{ status: 'completed' }]);
  expect(late.texts).toContain('tool: Basel');
});

it('lets a message wait while a question has a form, and refuses an answer that does not fit', async () => {
  const client = new Client(host, 'host:form').say('Ask me.');
  await client.run();
  const { threadId, pendingInterrupts } = client.agent;
  expect(pendingInterrupts).toMatchObject([{ responseSchema: { type: 'object', required: ['size'] } }]);
  const [{ id } = { id: '' }] = pendingInterrupts;
  const late = new Client(host, 'host:form', { threadId }).say('Hello?');
  const waiting = late.run({ runId: 'second' });
  await vi.waitFor(async () => expect(await tasksOf(threadId)).toMatchObject([{ status: 'queued' }, {}]));
  const answer = (payload: unknown) => client.run({ resume: [{ interruptId: id, status: 'resolved', payload }] });
  await expect(answer('no size')).rejects.toMatchObject({ status: 422, payload: { error: 'input_invalid' } });
  await answer({ size: 3 });
  await waiting;
  expect(late.agent.pendingInterrupts).toHaveLength(1);
  // The first question is answered; its id is no longer open.
  await expect(answer({ size: 4 })).rejects.toMatchObject({
    status: 409,
    payload: { error: 'input_already_answered' },
  });
});

it('takes a cancelled confirmation of a tool as a no, and its task goes on', async () => {
  const client = new Client(host, 'host:payer').say('Pay.');
  await client.run();
  expect(client.agent.pendingInterrupts).toMatchObject([{ reason: 'confirmation', message: 'Pay?' }]);
  const [{ id } = { id: '' }] = client.agent.pendingInterrupts;
  await client.run({ resume: [{ interruptId: id, status: 'cancelled' }] });
  expect(client.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(client.texts).toContain('tool: not paid');
});

it('shows a client that joins a thread what was said, and what waits for it', async () => {
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  await client.run();
  const { threadId } = client.agent;
  const late = new Client(host, 'host:desk', { threadId });
  await late.run();
  expect(late.texts).toEqual(whole);
  expect(late.agent.pendingInterrupts).toEqual(client.agent.pendingInterrupts);
  const [{ id } = { id: '' }] = late.agent.pendingInterrupts;
  await late.run({ resume: [{ interruptId: id, status: 'cancelled' }] });
  expect(late.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  const last = new Client(host, 'host:desk', { threadId });
  await last.run();
  expect(last.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(last.texts.slice(0, 4)).toEqual(whole);
});

it('shows a client that joins a thread what was said before many edits of artifacts', async () => {
  const client = new Client(host, 'host:echo').say('One.');
  await client.run();
  const { threadId } = client.agent;
  const artifacts = `/api/contexts/${await contextOf(threadId)}/artifacts`;
  const edits = Array.from({ length: 51 }, (_, n) => ask('PUT', `${artifacts}/n${n}`, { body: { data: { n } } }));
  expect(new Set((await Promise.all(edits)).map(({ status }) => status))).toEqual(new Set([201]));
  const late = new Client(host, 'host:echo', { threadId });
  await late.run();
  expect(late.texts).toEqual(['user: One.', 'assistant: Hello there.']);
});

it('gives a client that speaks into a thread that it does not know the messages before', async () => {
  const client = new Client(host, 'host:echo').say('One.');
  await client.run();
  const late = new Client(host, 'host:echo', { threadId: client.agent.threadId }).say('Two.');
  await late.run();
  expect(late.texts).toEqual(['user: One.', 'assistant: Hello there.', 'user: Two.', 'assistant: Hello there.']);
});

it('keeps the threads of two tenants apart, and needs the scopes of what a run does', async () => {
  const client = new Client(host, 'host:desk').say('Where is my parcel?');
  await client.run();
  const { threadId, pendingInterrupts } = client.agent;
  const [{ id } = { id: '' }] = pendingInterrupts;
  const resume = [{ interruptId: id, status: 'resolved' as const, payload: 'Mine' }];
  for (const other of [
    new Client(host, 'host:desk', { threadId, key: keys.other }).run({ resume }),
    new Client(host, 'host:desk', { threadId, key: keys.other }).run(),
    new Client(host, 'host:desk').run(),
  ]) {
    await expect(other).rejects.toMatchObject({ status: 404, payload: { error: 'not_found' } });
  }
  // The same name is a conversation of their own, in which nobody has said anything yet.
  const other = new Client(host, 'host:echo', { threadId, key: keys.other }).say('Hi.');
  await other.run();
  expect(other.texts).toEqual(['user: Hi.', 'assistant: Hello there.']);
  const contexts = [await contextOf(threadId), await contextOf(threadId, keys.other)];
  expect(new Set(contexts).size).toBe(2);
  // The id of a context names that context, for its tenant alone.
  const [own = ''] = contexts;
  expect([await contextOf(own), await contextOf(own, keys.other)]).toEqual([own, '']);
  const reader = new Client(host, 'host:desk', { threadId, key: keys.reader }).run({ resume });
  await expect(reader).rejects.toMatchObject({
    status: 403,
    payload: { details: { scopeRequired: 'approvals:respond' } },
  });
  expect(await tasksOf(threadId)).toMatchObject([{ status: 'waiting-input' }]);
});

it('refuses what is no run input, and names it', async () => {
  const input = { threadId: 'thread-x', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi.' }] };
  const refused = async (body: unknown, path = 'host:echo', raw?: string) => {
    const response = await ask('POST', `/api/agui/${path}`, { body, ...(raw !== undefined && { raw }) });
    const { error, message } = (await response.json()) as { error: string; message: string };
    return { status: response.status, error, message };
  };
  expect(await refused({}, 'host:echo', '{"threadId":')).toMatchObject({ status: 400, error: 'validation_error' });
  expect(await refused([])).toMatchObject({ status: 400, error: 'validation_error' });
  expect(await refused({ ...input, threadId: 7 })).toMatchObject({
    status: 400,
    error: 'validation_error',
    message: expect.stringContaining('threadId'),
  });
  expect(await refused({ ...input, runId: '' })).toMatchObject({
    status: 400,
    error: 'validation_error',
    message: expect.stringContaining('runId'),
  });
  expect(await refused({ ...input, runId: 'r'.repeat(129) })).toMatchObject({ status: 400, error: 'validation_error' });
  expect(await refused({ ...input, messages: {} })).toMatchObject({ status: 400, error: 'validation_error' });
  expect(await refused({ ...input, messages: [{ id: 'm', role: 'robot' }] })).toMatchObject({
    status: 400,
    error: 'validation_error',
  });
  expect(await refused({ ...input, messages: Array(5_001).fill(input.messages[0]) })).toMatchObject({
    status: 400,
    error: 'validation_error',
  });
  const image = { id: 'm', role: 'user', content: [{ type: 'image', source: { type: 'url', value: 'https://x' } }] };
  expect(await refused({ ...input, messages: [image] })).toMatchObject({
    status: 400,
    error: 'validation_error',
    message: expect.stringContaining('image'),
  });
  const long = { id: 'm', role: 'user', content: 'x'.repeat(131_073) };
  expect(await refused({ ...input, messages: [long] })).toMatchObject({
    status: 400,
    error: 'validation_error',
    message: expect.stringContaining('content'),
  });
  const huge = { id: 'm', role: 'assistant', content: 'x'.repeat(1_100_000) };
  expect(await refused({ ...input, messages: [huge] })).toMatchObject({ status: 413, error: 'payload_too_large' });
  expect(await refused({ ...input, threadId: 't'.repeat(129) })).toMatchObject({ status: 400 });
  expect(await refused(input, 'host:nobody')).toMatchObject({
    status: 404,
    error: 'not_found',
    message: expect.stringContaining('host:nobody'),
  });
  // None of them began anything.
  expect(await contextOf('thread-x')).toBe('');
  const done = await ask('POST', '/api/agui/host:echo', { body: { ...input, runId: 'good' } });
  expect(await done.text()).toContain('"type":"RUN_FINISHED"');
});

const tools = ['pick', 'measure'].map((name) => ({
  name,
  description: `Lets the user ${name}.`,
  parameters: { type: 'object', properties: { from: { type: 'array' } } },
}));

it('calls tools of the client beside its own, and goes on with their results', async () => {
  const client = new Client(host, 'host:picker').say('Paint it.');
  await client.run({ tools });
  const calls = client.agent.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  );
  const [pick, measure] = calls;
  expect(pick?.function).toEqual({ name: 'pick', arguments: '{"from":["red","blue"]}' });
  const pendingToolCallIds = [pick?.id, measure?.id];
  expect(client.events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds } });
  expect(client.texts).toContain('tool: paint is at the depot');
  const answered = { role: 'tool' as const, content: 'red', toolCallId: pick?.id ?? '', id: 'picked' };
  const failed = {
    role: 'tool' as const,
    content: '',
    error: 'no ruler',
    toolCallId: measure?.id ?? '',
    id: 'measured',
  };
  client.agent.addMessages([answered, failed]);
  await client.run({ tools, runId: 'results' });
  expect(client.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(client.texts.at(-1)).toBe('assistant: Good.');
  expect(client.texts.filter((text) => text === 'tool: red')).toHaveLength(1);
  // A new client sees the results, too, and repeats nothing.
  const late = new Client(host, 'host:picker', { threadId: client.agent.threadId });
  await late.run({ runId: 'results' });
  expect(late.texts).toEqual(expect.arrayContaining(['tool: red', 'assistant: Good.']));
  expect(late.texts.join()).toContain('no ruler');
  expect(await tasksOf(client.agent.threadId)).toHaveLength(1);
});

it('goes on for others while a client does not read, and shows that client everything later', async () => {
  gate.shut();
  const body = JSON.stringify({
    threadId: 'stalled',
    runId: 'r',
    messages: [{ id: 'm', role: 'user', content: 'Where is my parcel?' }],
  });
  const socket = connect(Number(new URL(String(host.url)).port), '127.0.0.1');
  const head = [
    'POST /api/agui/host:desk HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${keys.ann}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.pause();
  await gate.reached;
  gate.open();
  const other = new Client(host, 'host:echo').say('Hi.');
  await other.run();
  expect(other.texts).toEqual(['user: Hi.', 'assistant: Hello there.']);
  const late = new Client(host, 'host:desk', { threadId: 'stalled' });
  await late.run({ runId: 'r' });
  expect(late.texts).toEqual(whole);
  socket.destroy();
});

it('runs the program of the page, which prints what the page says', async () => {
  const root = join(import.meta.dirname, '../..');
  const page = readFileSync(join(root, 'docs/reference/ag-ui.md'), 'utf8');
  const block = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'cairn-agui-page-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'page.ts'), block('ts').replaceAll('http://127.0.0.1:4700', String(host.url)));
  const env = { ...process.env, CAIRN_KEY: keys.ann };
  const { stdout } = await promisify(execFile)(process.execPath, ['page.ts'], { cwd: folder, env });
  expect(stdout).toBe(block('text'));
  rmSync(folder, { recursive: true });
});
