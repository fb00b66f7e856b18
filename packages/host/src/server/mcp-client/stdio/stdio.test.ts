/** A host whose agents call the tools of MCP servers that it starts: a published one, and ones that misbehave. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf, payloadsIn } from '../../../../test/kit/followed-run.ts';
import { defineAgent } from '../../../agents/define-agent.ts';
import type { OperatorNotice } from '../../../engine/ports.ts';
import { inMemoryStore } from '../../../log/in-memory/store.ts';
import { systemClock } from '../../compose.ts';
import { createHostOver, type Host } from '../../create-host.ts';

const key = 'a-key-of-enough-characters';
const secret = 'the-value-of-the-secret-variable';
const program = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, name), ...args],
});

const caller = (server: string, tool: string, input: JsonObject = {}) =>
  defineAgent({
    id: `host:${server}.${tool}`,
    persona: tool,
    instructions: 'Call the tool.',
    tools: [`mcp:${server}/*`],
    rehearsal: { turns: [[{ call: { tool: `mcp:${server}/${tool}`, input } }], [{ answer: '{{last}}' }]] },
  });

const calls: readonly (readonly [string, string, JsonObject?])[] = [
  ['published', 'add', { a: 1, b: 2 }],
  ['published', 'wait'],
  ['published', 'book'],
  ...['env', 'family', 'noise', 'large', 'learn', 'learned', 'ask'].map((tool) => ['raw', tool] as const),
  ...['crash', 'endless', 'flood', 'chatter'].map((tool) => ['hostile', tool] as const),
  ...['lie', 'hang'].map((tool) => ['silent', tool] as const),
  ['strict', 'env'],
  ['missing', 'env'],
];

/** How far the clock of the host is ahead. */
let ahead = 0;
const notices: OperatorNotice[] = [];
const waiting = new Set<() => void>();
let host: Host;
let client: Client;

beforeAll(async () => {
  process.env.CAIRN_TEST_LEAK = 'must not be seen';
  const raw = program('raw-server.kit.ts');
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      secrets: { token: { value: secret } },
      mcp: {
        servers: [
          { id: 'published', ...program('published-server.kit.ts') },
          { id: 'raw', ...raw, env: { TOKEN: { secret: 'token' }, PLAIN: 'plain' }, cwd: tmpdir(), listEveryMs: 9e9 },
          { id: 'hostile', ...raw, maxResponseBytes: 50_000 },
          { id: 'silent', ...raw, timeoutMs: 300 },
          { id: 'strict', ...program('raw-server.kit.ts', 'strict') },
          { id: 'missing', command: 'cairn-has-no-such-program' },
        ],
      },
    },
    clock: {
      now: () => Date.now() + ahead,
      wakeAt: (at, wake) => systemClock.wakeAt(at - ahead, wake),
    },
    agents: calls.map((call) => caller(...call)),
    report(notice) {
      notices.push(notice);
      for (const wake of waiting) wake();
    },
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(() => host?.close());

const startOf = async (agent: string): Promise<string> =>
  (await client.runs.create({ agentId: `host:${agent}`, inputs: { message: 'Go.' } })).runId;

async function returned(agent: string): Promise<JsonObject> {
  return payloadsIn(await eventsOf(client, await startOf(agent)), 'agent.toolReturned')[0] ?? {};
}

/** Resolves at the first notice that fits. */
async function noticed(fits: (notice: OperatorNotice) => boolean): Promise<OperatorNotice> {
  for (;;) {
    const found = notices.find(fits);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => waiting.add(resolve));
  }
}

/** Whether a process runs. One that nobody has waited for yet does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const textOf = ({ outcome }: JsonObject): JsonObject => JSON.parse(String(outcome));

describe('tools of a server that the host starts', () => {
  test('are called with their progress, by the newer revision', async () => {
    const events = await eventsOf(client, await startOf('published.add'));
    expect(payloadsIn(events, 'agent.toolReturned')).toMatchObject([
      { status: 'ok', outcome: '3', transport: 'mcp', contentTrust: 'untrusted' },
    ]);
    expect(payloadsIn(events, 'cairn.tool.progress')).toMatchObject([{ progress: 0.5, message: 'half' }]);
  });

  test('ask people through the inbox', async () => {
    const runId = await startOf('published.book');
    for await (const { type, nodeId } of client.follow(runId)) {
      if (type === 'node.suspended') {
        await client.runs.answer(runId, nodeId ?? '', { answers: { answer: { size: 'large' } } });
      }
    }
    expect(payloadsIn(await eventsOf(client, runId), 'agent.toolReturned')).toMatchObject([
      { outcome: 'Booked large.' },
    ]);
  });

  test('of a revision of 2025 ask people through the inbox, too, while their server waits', async () => {
    const { runId } = await client.runs.create({ agentId: 'host:raw.ask', inputs: { message: 'Go.' } });
    let end: unknown;
    for await (const { type, nodeId, payload } of client.follow(runId)) {
      if (type === 'node.suspended') {
        await client.runs.answer(runId, nodeId ?? '', { answers: { answer: { size: 'M' } } });
      }
      if (type === 'agent.toolReturned') end = (payload as JsonObject).outcome;
    }
    expect(JSON.parse(String(end))).toEqual({ action: 'accept', content: { size: 'M' } });
  });

  test('are told when their run is canceled', async () => {
    const runId = await startOf('published.wait');
    await noticed(({ event, facts }) => event === 'mcp.stderr' && facts?.line === 'wait began');
    await client.runs.cancel(runId);
    await noticed(({ event, facts }) => event === 'mcp.stderr' && facts?.line === 'wait was canceled');
    expect((await eventsOf(client, runId)).at(-1)).toMatchObject({ type: 'run.cancelled' });
  });

  test('see the variables of their server, and of the host only those of a plain shell', async () => {
    const result = await returned('raw.env');
    const { outcome } = result;
    expect(String(outcome)).toContain('"PLAIN":"plain"');
    expect(String(outcome)).toContain(`"cwd":${JSON.stringify(tmpdir())}`);
    expect(String(outcome)).not.toContain('CAIRN_TEST_LEAK');
    // The secret reached the program, and its echo is redacted.
    expect(String(outcome)).toContain('"TOKEN":"[REDACTED]"');
    expect(JSON.stringify([result, notices])).not.toContain(secret);
  });

  test('work on with lines that are no messages, whose errors are escaped and so many in a minute', async () => {
    expect(await returned('raw.noise')).toMatchObject({ outcome: 'still here' });
    const lines = notices.filter(({ event, facts }) => event === 'mcp.stderr' && facts?.server === 'raw');
    expect(lines[1]).toMatchObject({ level: 'info', facts: { line: '\\u001b[31mred\\u001b[0m' } });
    // It wrote 200.
    expect(lines.length).toBeLessThan(100);
  });

  test('are listed again when their server says that they changed', async () => {
    expect(await returned('raw.learned')).toMatchObject({ error: { code: 'tool_not_found' } });
    expect(await returned('raw.learn')).toMatchObject({ outcome: 'learned' });
    ahead += 11_000;
    expect(await returned('raw.learned')).toMatchObject({ outcome: 'used' });
  });

  test('are found with a server that ends at the first message that it does not know', async () => {
    expect(textOf(await returned('strict.env'))).toHaveProperty('PATH');
  });

  test('of a program that is not there are unknown', async () => {
    expect(await returned('missing.env')).toMatchObject({ error: { code: 'tool_not_found' } });
    expect(notices).toContainEqual(
      expect.objectContaining({
        event: 'mcp.unavailable',
        facts: expect.objectContaining({
          server: 'missing',
          message: expect.stringContaining('could not be started (ENOENT)'),
        }),
      }),
    );
  });
});

describe('a server that the host starts', () => {
  test('that crashes ends its call, and is started again after a while', async () => {
    expect(await returned('hostile.crash')).toMatchObject({
      error: { code: 'http_network_error', message: expect.stringContaining('ended (exit code 3)'), retryable: true },
    });
    expect(notices).toContainEqual(
      expect.objectContaining({
        event: 'mcp.process_ended',
        facts: { server: 'hostile', why: 'ended (exit code 3)', restartInMs: 1_000 },
      }),
    );
    expect(await returned('hostile.crash')).toMatchObject({
      error: { message: expect.stringContaining('The host starts it again in 1 s.') },
    });
    ahead += 1_000;
    expect(await returned('hostile.crash')).toMatchObject({
      error: { message: expect.stringContaining('ended (exit code 3)') },
    });
    ahead += 60_000;
  });

  test.each([
    ['writes a line without end', 'endless', 'sent a line of more than 50000 bytes'],
    ['sends without end', 'flood', 'sent more than 50000 bytes for each open call'],
    ['sends many short lines', 'chatter', 'sent more than 50000 bytes for each open call'],
  ])('that %s is ended', async (_, tool, why) => {
    expect(await returned(`hostile.${tool}`)).toMatchObject({
      error: { code: 'tool_failed', message: expect.stringContaining(why) },
    });
    ahead += 60_000;
  });

  test.each(['hang', 'lie'])('that does not answer (%s) holds its call only for its time', async (tool) => {
    expect(await returned(`silent.${tool}`)).toMatchObject({ error: { code: 'tool_timeout' } });
  });

  test('may send more than one call may, if more calls are open', async () => {
    const results = await Promise.all([returned('raw.large'), returned('raw.large')]);
    expect(results).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });

  test('sees the end of its input when the host is killed, and ends', async () => {
    const { command, args } = program('killed-host.kit.ts', join(import.meta.dirname, 'raw-server.kit.ts'));
    const killed = spawn(command, ['--conditions=@cairn/source', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(killed.stdout), 'line');
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    killed.kill('SIGKILL');
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  });

  test('ends with the host, and so do the programs that it started', async () => {
    const pids: readonly number[] = JSON.parse(String((await returned('raw.family')).outcome));
    expect(pids.map(isAlive)).toEqual([true, true]);
    await host.close();
    while (pids.some(isAlive)) await new Promise((resolve) => setImmediate(resolve));
  });
});
