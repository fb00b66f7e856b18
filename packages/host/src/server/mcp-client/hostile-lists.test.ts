/** MCP servers whose lists are too long, too large, or name tools that nobody could tell apart. */
import { createClient } from '@cairn/client';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { OperatorNotice } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver } from '../create-host.ts';
import { old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';
const tool = (name: string, inputSchema: Json = { type: 'object' }, description = 'x') => ({
  name,
  description,
  inputSchema,
});

/** A host with a server that lists these tools, a page for each request. */
async function listing(page: (number: number) => JsonObject, maxResponseBytes = 4_000_000) {
  let pages = 0;
  const server = await otherServer({
    intercept(received, response) {
      if (received.method !== 'tools/list') return old(received, response);
      const result = page(pages);
      pages += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: received.id, result }));
      return true;
    },
  });
  onTestFinished(() => server.close());
  const notices: OperatorNotice[] = [];
  const host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      mcp: { servers: [{ id: 'hostile', url: server.url, maxResponseBytes }] },
    },
    report: (notice) => void notices.push(notice),
  });
  onTestFinished(() => host.close());
  const listed = await createClient({ url: host.url ?? '', key }).tools.list();
  return { tools: listed.filter(({ source }) => source === 'mcp'), notices, pages };
}

const named = (event: string) => (notice: OperatorNotice) => notice.event === event;

test('a list of 100,000 tools ends at its limit of bytes, and offers none', async () => {
  const many = Array.from({ length: 100_000 }, (_, i) => tool(`tool-${i}`));
  const { tools, notices } = await listing(() => ({ tools: many }));
  expect(tools).toEqual([]);
  expect(notices.find(named('mcp.unavailable'))).toMatchObject({ facts: { server: 'hostile', code: 'tool_failed' } });
});

test('a list without an end has so many pages, and a host so many tools of one server', async () => {
  const { tools, pages, notices } = await listing((page) => ({
    tools: Array.from({ length: 60 }, (_, i) => tool(`tool-${page}-${i}`)),
    nextCursor: String(page + 1),
  }));
  expect(pages).toBeLessThanOrEqual(20);
  expect(tools.length).toBeLessThanOrEqual(500);
  expect(notices.length).toBeGreaterThan(0);
});

test('tools with names or schemas that nobody can use are left out, and each name counts once', async () => {
  const { tools, notices } = await listing(() => ({
    tools: [
      tool('good', { type: 'object' }, 'The first.'),
      tool('good', { type: 'object' }, 'The second.'),
      tool('bell\u0007'),
      tool('reversed\u202e'),
      tool('../../etc/passwd'),
      tool('x'.repeat(200)),
      tool('large', { type: 'object', description: 'x'.repeat(600_000) }),
    ],
  }));
  expect(tools.map(({ toolId, description }) => [toolId, description])).toEqual([['mcp:hostile/good', 'The first.']]);
  const { refused } = (notices.find(named('mcp.tools_refused'))?.facts ?? {}) as { refused: readonly string[] };
  expect(refused).toHaveLength(5);
  // The names are shown as JSON text, without what would steer a terminal.
  expect(refused[0]).toContain('\\u0007');
});
