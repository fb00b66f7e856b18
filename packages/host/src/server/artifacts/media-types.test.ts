/** Media types that tools name, and those in logs that nobody checked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@cairn/client/context';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { createHost } from '../create-host.ts';

const key = 'a-key-of-enough-characters';
const unsaid = ['text/html\r\nX-Evil: 1', '<script>', 'text/ü', `text/${'x'.repeat(300)}`];

/** Writes a file of each type, and says what came of it. */
const tool = defineTool({
  id: 'acme.desk:write',
  description: 'Writes.',
  input: z.object({}),
  safety: 'idempotent',
  run: async (_input, { file }) => {
    const page = file('page.html');
    await page.write('<p>');
    await page.close();
    const said: string[] = [];
    for (const mimeType of unsaid) {
      const typed = async () => file('typed.html', { mimeType }).close();
      said.push(await typed().then(String, String));
    }
    return said;
  },
});

const agent = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: 'Do it.',
  tools: ['acme.desk:write'],
  rehearsal: { turns: [[{ call: { tool: 'acme.desk:write', input: {} } }], [{ say: 'Done.' }]] },
});

const data = mkdtempSync(join(tmpdir(), 'cairn-media-types-'));
let host: Awaited<ReturnType<typeof createHost>>;

beforeAll(async () => {
  const config = { port: 0, data, keys: [{ key, tenant: 't', principal: 'ann' }] };
  host = await createHost({ config, tools: [tool], agents: [agent], report: () => undefined });
});

afterAll(async () => {
  await host.close();
  rmSync(data, { recursive: true, force: true });
});

test('a media type that no header can say is refused, and a stored one is not sent', async () => {
  const context = createClient({ url: host.url ?? '', key }).context();
  let results: readonly unknown[] = [];
  for await (const event of context.send('Go.', { agentId: 'host:desk' })) {
    if (event.kind === 'tool-complete') results = Array.isArray(event.result) ? event.result : [];
  }
  expect(results).toEqual(unsaid.map(() => expect.stringContaining('cannot have the media type')));

  {
    using db = new DatabaseSync(join(data, 'cairn.db'));
    db.prepare('UPDATE artifacts SET mime = ?').run('text/html\r\nX-Evil: 1');
  }
  const page = await fetch(`${host.url}/api/contexts/${context.id}/artifacts/page.html`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect([page.status, page.headers.get('content-type'), page.headers.get('x-evil'), await page.text()]).toEqual([
    200,
    'application/octet-stream',
    null,
    '<p>',
  ]);
});
