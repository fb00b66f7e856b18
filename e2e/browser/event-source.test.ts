/** A plain `EventSource` with a read token, in a real browser: it goes on by itself after a restart of the host. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { createHost, type Host } from '../../packages/host/src/index.ts';
import { launchBrowser, newContext } from './chromium.ts';
import { key, order } from './order.ts';
import { emptySite } from './site.ts';

/** In the page: hears of each event. */
declare const heard: (type: string, id: string) => Promise<void>;

test('a page of another origin with a read token survives a restart of the host, and sees every event once', async () => {
  const [browser, site, data] = await Promise.all([
    launchBrowser(),
    emptySite(),
    mkdtemp(join(tmpdir(), 'cairn-event-source-')),
  ]);
  const started = (port: number): Promise<Host> =>
    createHost({
      config: { port, data, keys: [{ key, tenant: 'acme' }], cors: { origins: [site.origin] } },
      workflows: [order],
      report: () => undefined,
    });
  let host = await started(0);
  onTestFinished(async () => {
    await browser.close();
    await host.close();
    await site[Symbol.asyncDispose]();
    await rm(data, { recursive: true, force: true });
  });
  const url = host.url ?? '';
  const client = createClient({ url, key });
  const { runId } = await client.runs.create({ workflowId: 'order' });
  const { eventsUrl } = await client.readTokens.create(runId);

  const seen: [type: string, id: string][] = [];
  const waits = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
  const page = await (await newContext(browser)).newPage();
  await page.exposeFunction('heard', (type: string, id: string) => {
    seen.push([type, id]);
    if (type === 'node.suspended') waits.resolve();
    if (type === 'run.completed') ends.resolve();
  });
  await page.goto(site.origin);
  await page.evaluate((address) => {
    const source = new EventSource(address);
    const types = ['run.started', 'node.completed', 'node.suspended', 'interrupt.requested', 'run.completed'];
    for (const type of types) {
      source.addEventListener(type, (event) => {
        void heard(type, event.lastEventId);
        if (type === 'run.completed') source.close();
      });
    }
    // Every event has a name, so this hears nothing.
    source.addEventListener('message', (event) => void heard('message', event.lastEventId));
  }, eventsUrl);
  await waits.promise;

  await host.close();
  host = await started(Number(new URL(url).port));
  await client.runs.answer(runId, 'approve', { action: 'accept' });
  await ends.promise;

  const named = new Set(['run.started', 'node.completed', 'node.suspended', 'interrupt.requested', 'run.completed']);
  const all = (await client.events.all(runId)).filter(({ type }) => named.has(type));
  expect(seen).toEqual(all.map(({ type, sequence }) => [type, String(sequence)]));
});
