/** The client in a real browser: from an application of another origin, and from a page of the host itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as nodeClient from '@cairn/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createHost, type Host } from '../../packages/host/src/index.ts';
import { launchBrowser, newContext } from './chromium.ts';
import { bundleClient } from './client-bundle.ts';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';
import { key, order } from './order.ts';
import { emptySite, type Site } from './site.ts';

/** What the bundle puts into a page. */
declare const cairnClient: typeof nodeClient;

let browser: Browser;
let bundle: string;
let listed: Site;
let foreign: Site;
let host: Host;
let url: string;
let proxy: CuttingProxy;
let folder: string;
let client: nodeClient.Client;

beforeAll(async () => {
  [browser, bundle, listed, foreign] = await Promise.all([launchBrowser(), bundleClient(), emptySite(), emptySite()]);
  folder = await mkdtemp(join(tmpdir(), 'cairn-browser-'));
  host = await createHost({
    config: { port: 0, data: folder, keys: [{ key, tenant: 'acme' }], cors: { origins: [listed.origin] } },
    workflows: [order],
    report: () => undefined,
  });
  url = host.url ?? '';
  proxy = await cuttingProxy(url);
  client = nodeClient.createClient({ url, key });
});

afterAll(async () => {
  await browser.close();
  await proxy[Symbol.asyncDispose]();
  await host.close();
  await Promise.all([listed, foreign].map((site) => site[Symbol.asyncDispose]()));
  await rm(folder, { recursive: true, force: true });
});

/** A page with the client in it, in a browser without cookies. */
async function pageAt(address: string): Promise<Page> {
  const context = await newContext(browser);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.exposeFunction('cutConnections', () => proxy.cut());
  await page.goto(address);
  await page.evaluate(`${bundle};globalThis.cairnClient = cairnClient`);
  return page;
}

declare const cutConnections: () => Promise<void>;
/** In the page: the run's question is answered from outside. */
declare const answer: () => Promise<void>;

const sequencesOf = async (runId: string): Promise<readonly number[]> =>
  (await client.events.all(runId)).map((event) => event.sequence);

test('an application of a listed origin follows a run through a break, answers it and sees every event once', async () => {
  const page = await pageAt(listed.origin);
  const seen = await page.evaluate(
    async ([address, key]) => {
      let streams = 0;
      const counted: typeof fetch = (input, init) => {
        if (String(input).includes('/events?')) streams += 1;
        return fetch(input, init);
      };
      const host = cairnClient.createClient({ url: address, key, fetch: counted });
      const { runId } = await host.runs.create({ workflowId: 'order' });
      const sequences: number[] = [];
      const types: string[] = [];
      for await (const event of host.follow(runId)) {
        sequences.push(event.sequence);
        types.push(event.type);
        if (event.type !== 'node.suspended') continue;
        await cutConnections();
        await host.runs.answer(runId, 'approve', { action: 'accept' });
      }
      const { status } = await host.runs.get(runId);
      return { runId, sequences, types, status, streams };
    },
    [proxy.url, key] as const,
  );
  expect(seen.status).toBe('completed');
  expect(seen.types.at(-1)).toBe('run.completed');
  expect(seen.streams).toBe(2);
  expect(seen.sequences).toEqual(await sequencesOf(seen.runId));
});

test('an application of a listed origin waits, reads etags, cancels and gets typed refusals', async () => {
  const page = await pageAt(listed.origin);
  const seen = await page.evaluate(
    async ([address, key]) => {
      const host = cairnClient.createClient({ url: address, key });
      const { runId } = await host.runs.create({ workflowId: 'order' });
      const waiting = await host.runs.wait(runId);
      const marked = await host.runs.getIfChanged(runId, null);
      const same = await host.runs.getIfChanged(runId, marked?.etag ?? null);
      const { status } = await host.runs.cancel(runId, 'enough');
      const refusal = await host.runs.get('run_unknown').catch((error: unknown) => error);
      const { code, status: refused } = refusal as nodeClient.HostError;
      return {
        asked: waiting.interrupt?.nodeId,
        same,
        status,
        code,
        refused,
        isTyped: cairnClient.isCairnError(refusal),
      };
    },
    [url, key] as const,
  );
  expect(seen).toEqual({
    asked: 'approve',
    same: null,
    status: 'cancelled',
    code: 'not_found',
    refused: 404,
    isTyped: true,
  });
});

test('a page of another origin can neither read nor change anything, with or without the key', async () => {
  const before = (await client.runs.list()).runs.length;
  const page = await pageAt(foreign.origin);
  const seen = await page.evaluate(
    async ([address, key]) => {
      const host = cairnClient.createClient({ url: address, key, retries: 0 });
      const codeOf = (error: unknown) => (error as nodeClient.HostError).code;
      // What a page can send without asking first: the browser hides the answer, the host must not act on it.
      const headers = { 'content-type': 'text/plain' };
      const body = '{"workflowId":"order"}';
      const { type } = await fetch(`${address}/v1/runs`, { method: 'POST', mode: 'no-cors', headers, body });
      return [
        await host.runs.list().catch(codeOf),
        await host.runs.create({ workflowId: 'order' }).catch(codeOf),
        type,
      ];
    },
    [url, key] as const,
  );
  expect(seen).toEqual(['service_unavailable', 'service_unavailable', 'opaque']);
  expect((await client.runs.list()).runs).toHaveLength(before);
});

test('a page of the host reads by its session, which scripts cannot see and which changes nothing', async () => {
  const page = await pageAt(`${url}/.well-known/openwop`);
  const seen = await page.evaluate(async (key) => {
    const codeOf = (error: unknown) => (error as nodeClient.HostError).code;
    const keyed = cairnClient.createClient({ url: location.origin, key });
    const byCookie = cairnClient.createClient({ url: location.origin });
    const without = await byCookie.runs.list().catch(codeOf);
    await keyed.session.open();
    const { runId } = await keyed.runs.create({ workflowId: 'order' });
    const { status } = await byCookie.runs.wait(runId);
    const created = await byCookie.runs.create({ workflowId: 'order' }).catch(codeOf);
    const answered = await byCookie.runs.answer(runId, 'approve', { action: 'accept' }).catch(codeOf);
    const { cookie } = document;
    await byCookie.session.close();
    return { without, status, created, answered, cookie, after: await byCookie.runs.get(runId).catch(codeOf) };
  }, key);
  expect(seen).toEqual({
    without: 'unauthenticated',
    status: 'waiting-approval',
    created: 'unauthenticated',
    answered: 'unauthenticated',
    cookie: '',
    after: 'unauthenticated',
  });
});

test('an EventSource of a page of the host goes on after a break, without gap or repeat', async () => {
  const { runId } = await client.runs.create({ workflowId: 'order' });
  await client.runs.wait(runId);
  const page = await pageAt(`${proxy.url}/.well-known/openwop`);
  await page.exposeFunction('answer', () => client.runs.answer(runId, 'approve', { action: 'accept' }));
  const seen = await page.evaluate(
    async ([key, id]) => {
      await cairnClient.createClient({ url: location.origin, key }).session.open();
      const source = new EventSource(`/v1/runs/${id}/events?streamMode=updates`);
      const ids: number[] = [];
      let breaks = 0;
      const note = async (event: MessageEvent) => {
        ids.push(Number(event.lastEventId));
        if (event.type !== 'node.suspended') return;
        await cutConnections();
        await answer();
      };
      for (const type of ['run.started', 'node.completed', 'interrupt.requested', 'approval.requested']) {
        source.addEventListener(type, note);
      }
      for (const type of ['node.suspended', 'interrupt.resolved', 'approval.received']) {
        source.addEventListener(type, note);
      }
      source.addEventListener('error', () => {
        breaks += 1;
      });
      await new Promise((resolve) => source.addEventListener('run.completed', resolve));
      source.close();
      return { ids, breaks };
    },
    [key, runId] as const,
  );
  const updates = [];
  for await (const event of client.follow(runId, { modes: ['updates'] })) updates.push(event.sequence);
  expect(seen.breaks).toBeGreaterThan(0);
  expect(seen.ids).toEqual(updates.slice(0, -1));
});

test('the session of a browser is of no use to pages of other origins on the same machine', async () => {
  const context = await newContext(browser);
  onTestFinished(() => context.close());
  const own = await context.newPage();
  await own.goto(`${url}/.well-known/openwop`);
  await own.evaluate(`${bundle};globalThis.cairnClient = cairnClient`);
  await own.evaluate((key) => cairnClient.createClient({ url: location.origin, key }).session.open(), key);
  // Ports are one site to a browser, so that it sends the cookie; the host has to refuse.
  const other = await context.newPage();
  await other.goto(foreign.origin);
  const seen = await other.evaluate(async (address) => {
    const read = await fetch(`${address}/v1/runs`, { credentials: 'include' }).catch(String);
    const source = new EventSource(`${address}/v1/runs/run_a/events`, { withCredentials: true });
    await new Promise((resolve) => source.addEventListener('error', resolve));
    return [read, source.readyState === EventSource.CLOSED];
  }, url);
  expect(seen).toEqual(['TypeError: Failed to fetch', true]);
});
