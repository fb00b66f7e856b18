/** The React hooks of the client with the real React, in a real browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type TaskEvent } from '@cairn/client/context';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventsOf, notice, taskFrame } from '../../packages/client/src/context/scripted-context.kit.ts';
import { createHost } from '../../packages/host/src/index.ts';
import { portOf } from '../../packages/host/test/kit/port-of.ts';
import { launchBrowser, newContext } from './chromium.ts';
import { bundleClient } from './client-bundle.ts';
import { key, order } from './order.ts';
import type * as reactPage from './react-page.tsx';
import { emptySite } from './site.ts';

/** What the bundle puts into the page. */
declare const cairnClient: typeof reactPage;

let browser: Browser;
let bundle: string;

beforeAll(async () => {
  [browser, bundle] = await Promise.all([
    launchBrowser(),
    bundleClient('../../../e2e/browser/react-page.tsx', 'development'),
  ]);
});
afterAll(() => browser.close());

async function pageAt(address: string): Promise<Page> {
  const context = await newContext(browser);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  onTestFinished(() => expect(problems).toEqual([]));
  await page.goto(address);
  await page.evaluate(`${bundle};globalThis.cairnClient = cairnClient`);
  return page;
}

const MESSAGES = 300;
const history = eventsOf(
  Array.from({ length: MESSAGES }, (_, n) => ({
    kind: 'content-complete',
    contentId: `m${n}`,
    content: `message ${n}`,
  })),
);

/** Streams a conversation, and what the test adds to it. */
async function scriptedHost() {
  const streams: ServerResponse[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (!request.url?.includes('/stream')) {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end('<!doctype html><link rel="icon" href="data:,"><title>a page</title>');
      return;
    }
    streams.push(response);
    response.on('close', closed.resolve);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const frames = history.map(taskFrame).join('');
    response.write(notice('ready', { from: 0, head: MESSAGES }) + frames + notice('caught-up', { cursor: MESSAGES }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = (event: TaskEvent) => streams.at(-1)?.write(taskFrame(event));
  return { url: `http://127.0.0.1:${portOf(server)}`, streams, closed: closed.promise, send };
}

test('two components of a long conversation share one stream, render only what changed, and close it', async () => {
  const host = await scriptedHost();
  const page = await pageAt(host.url);
  await page.evaluate(() => cairnClient.showTalk('ctx_a'));
  await page
    .locator('#two')
    .getByText(`message ${MESSAGES - 1}`)
    .waitFor();
  const before = await page.evaluate(() => ({ ...cairnClient.renders }));

  const deltas = Array.from({ length: 50 }, (_, index) => ({
    kind: 'content-delta' as const,
    contentId: 'live',
    index,
    delta: `${index} `,
  }));
  for (const [n, event] of eventsOf(deltas).entries()) host.send({ ...event, cursor: MESSAGES + 1 + n });
  const whole = deltas.map(({ delta }) => delta).join('');
  await page.locator('#one').getByText(whole.trim()).waitFor();
  expect(await page.locator('#one li').last().textContent()).toBe(whole);

  const { live = 0, ...others } = await page.evaluate(() => ({ ...cairnClient.renders }));
  expect(others).toEqual(before);
  // Pieces that come together are one change.
  expect(live).toBeLessThan(2 * 2 * deltas.length);
  expect(host.streams).toHaveLength(1);
  await page.evaluate(() => cairnClient.unmount());
  await host.closed;
});

test('forty runs in one list are each followed once', async () => {
  const host = await scriptedHost();
  const page = await pageAt(host.url);
  await page.evaluate(() => cairnClient.showRuns(40));
  await page.waitForFunction(() => document.body.textContent === 'running'.repeat(40));
  const counts = Object.values(await page.evaluate(() => cairnClient.watched));
  expect([counts.length, new Set(counts)]).toEqual([40, new Set([1])]);
  await page.evaluate(() => cairnClient.unmount());
});

test('a run and the inbox are shown as they are, and change with the answer of a person', async () => {
  const [site, data] = await Promise.all([emptySite(), mkdtemp(join(tmpdir(), 'cairn-react-'))]);
  const host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 'acme' }], cors: { origins: [site.origin] } },
    workflows: [order],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    await site[Symbol.asyncDispose]();
    await rm(data, { recursive: true, force: true });
  });
  const url = host.url ?? '';
  const client = createClient({ url, key });
  const { runId } = await client.runs.create({ workflowId: 'order' });
  const page = await pageAt(site.origin);
  await page.evaluate(([at, secret, id]) => cairnClient.showDesk(at, secret, id), [url, key, runId] as const);
  await page.locator('#run', { hasText: 'waiting-approval live' }).waitFor();
  await page.locator('#inbox', { hasText: 'Go on?' }).waitFor();
  await client.runs.answer(runId, 'approve', { action: 'accept' });
  await page.locator('#run', { hasText: 'completed closed' }).waitFor();
  await page.locator('#inbox', { hasText: /^$/ }).waitFor({ state: 'attached' });
  await page.evaluate(() => cairnClient.unmount());
});
