/** Artifacts as resources of the published MCP client, in every revision. */
import { type ContextEvent, createClient } from '@cairn/client/context';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eras, keys, McpHost } from './client.kit.ts';

const host = new McpHost();
let contextId: string;

/** As many bytes as a resource may have. */
const FULL = 1_048_576;
const bytes = new Uint8Array([0, 255, 1, 128]);

beforeAll(async () => {
  await host.start();
  const context = createClient({ url: host.url, key: keys.ann }).context();
  host.work = async ({ file, dataset }) => {
    const large = file('large.txt');
    await large.write('x'.repeat(FULL));
    await large.write('x');
    await large.close();
    const rows = dataset('rows');
    for (let id = 0; id < 300; id += 1) await rows.write([{ id, text: 'x'.repeat(4_000) }]);
    await rows.close();
    return null;
  };
  const ended: ContextEvent[] = [];
  for await (const event of context.send('Go.', { agentId: 'host:desk' })) ended.push(event);
  expect(ended.at(-1)).toMatchObject({ kind: 'task-complete' });
  contextId = context.id ?? '';
  await context.artifacts.save('notes/Äpfel und so.md', '# Äpfel\n');
  await context.artifacts.save('bytes.bin', bytes);
  await context.artifacts.save('totals', { data: { orders: 42 } });
  await context.artifacts.save('orders', { rows: [{ id: 1 }, { id: 2 }] });
  await context.artifacts.save('full.txt', 'x'.repeat(FULL));
});
afterAll(() => host.close());

const uriOf = (artifactId: string) =>
  `cairn://contexts/${encodeURIComponent(contextId)}/artifacts/${encodeURIComponent(artifactId)}`;

describe.each(eras)('a client of %s', (era) => {
  const read = async (artifactId: string, key = keys.ann) => {
    const client = await host.client(era, { key });
    return (await client.readResource({ uri: uriOf(artifactId) })).contents;
  };

  test('reads a file of text, also one whose name has a path and other characters', async () => {
    const uri = uriOf('notes/Äpfel und so.md');
    expect(await read('notes/Äpfel und so.md')).toEqual([
      { uri, mimeType: expect.stringContaining('text/markdown'), text: '# Äpfel\n' },
    ]);
  });

  test('reads another file as bytes', async () => {
    const blob = Buffer.from(bytes).toString('base64');
    expect(await read('bytes.bin')).toEqual([{ uri: uriOf('bytes.bin'), mimeType: 'application/octet-stream', blob }]);
  });

  test.each([
    ['totals', { orders: 42 }],
    ['orders', { rows: [{ id: 1 }, { id: 2 }] }],
  ])('reads the JSON of %s', async (artifactId, value) => {
    const [content] = await read(artifactId);
    expect(content).toMatchObject({ mimeType: 'application/json' });
    expect(JSON.parse(content !== undefined && 'text' in content ? content.text : '')).toMatchObject(value);
  });

  test('reads no more than a megabyte', async () => {
    expect(await read('full.txt')).toMatchObject([{ text: expect.stringMatching(/^x+$/) }]);
    for (const artifactId of ['large.txt', 'rows'])
      await expect(read(artifactId)).rejects.toThrow(`The resource has more than ${FULL} bytes. Read it over HTTP.`);
  });

  test('does not know the artifacts of another tenant, nor one that is not there', async () => {
    await expect(read('totals', keys.other)).rejects.toThrow('There is no such resource');
    await expect(read('nothing.txt')).rejects.toThrow('There is no such resource');
  });
});
