import { expect, onTestFinished, test } from 'vitest';
import { createClient } from './client.ts';
import { collect, listen } from './scripted-host.kit.ts';

test('goes through all pages of the run list, and reads none that is not needed', async () => {
  const asked: string[] = [];
  const host = await listen((request, response) => {
    asked.push(request.url ?? '');
    const cursor = Number(new URL(request.url ?? '', 'http://host').searchParams.get('cursor') ?? 0);
    const runs = [{ runId: `run_${cursor}a` }, { runId: `run_${cursor}b` }];
    response.end(JSON.stringify({ runs, nextCursor: cursor < 2 ? String(cursor + 1) : null }));
  });
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url, key: 'k' });
  const all = await collect(client.runs.all({ tag: 'x', limit: 2 }));
  expect(all.map(({ runId }) => runId)).toEqual(['run_0a', 'run_0b', 'run_1a', 'run_1b', 'run_2a', 'run_2b']);
  expect(asked).toEqual([
    '/v1/runs?tag=x&limit=2',
    '/v1/runs?tag=x&limit=2&cursor=1',
    '/v1/runs?tag=x&limit=2&cursor=2',
  ]);
  for await (const { runId } of client.runs.all()) {
    expect(runId).toBe('run_0a');
    break;
  }
  expect(asked).toHaveLength(4);
});

test('gives a run only if it has changed', async () => {
  const host = await listen((request, response) => {
    const isKnown = request.headers['if-none-match'] === '"7"';
    response.writeHead(isKnown ? 304 : 200, { etag: '"7"' });
    response.end(isKnown ? undefined : '{"runId":"run_a"}');
  });
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url, key: 'k' });
  expect(await client.runs.getIfChanged('run_a', null)).toEqual({ run: { runId: 'run_a' }, etag: '"7"' });
  expect(await client.runs.getIfChanged('run_a', '"6"')).toEqual({ run: { runId: 'run_a' }, etag: '"7"' });
  expect(await client.runs.getIfChanged('run_a', '"7"')).toBeNull();
});
