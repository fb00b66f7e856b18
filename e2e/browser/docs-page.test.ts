/** The page at `/v1/docs` in a real browser, under its own policy: nothing from elsewhere, nothing refused. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import { launchBrowser, newContext } from './chromium.ts';

let browser: Browser;
let host: Host;
beforeAll(async () => {
  [browser, host] = await Promise.all([
    launchBrowser(),
    createHostOver(inMemoryStore(), {
      report: () => undefined,
      config: { port: 0, keys: [{ key: 'a-key-for-these-tests', tenant: 'a' }] },
    }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await host.close();
});

interface Opened {
  readonly page: Page;
  readonly url: string;
  /** What the browser complained about, and the addresses it asked. */
  readonly complaints: string[];
  readonly asked: string[];
}

async function open(hash = '', script?: string): Promise<Opened> {
  const url = host.url ?? '';
  const context = await newContext(browser);
  onTestFinished(() => context.close());
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  const page = await context.newPage();
  const [complaints, asked]: [string[], string[]] = [[], []];
  page.on('console', (message) => void complaints.push(message.text()));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => void asked.push(request.url()));
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(`${url}/v1/docs${hash}`);
  await page.waitForSelector('article');
  return { page, url, complaints, asked };
}

test('shows every operation of the host, asks nobody else, and breaks no rule of its policy', async () => {
  const { page, url, complaints, asked } = await open();
  const api = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { readonly paths: Record<string, object> };
  const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods)) as { operationId: string }[];
  const shown = await page.locator('article').evaluateAll((articles) => articles.map(({ id }) => id));
  for (const { operationId } of operations) expect(shown.filter((id) => id === operationId)).toHaveLength(1);
  expect(complaints).toEqual([]);
  expect(asked).toEqual([`${url}/v1/docs`, `${url}/v1/openapi.json`]);
});

test('what is not of the page does not run in it', async () => {
  const { page, complaints } = await open();
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.strange = true';
    document.body.append(script);
    return 'strange' in window;
  });
  expect(ran).toBe(false);
  expect(complaints.join()).toContain('Content Security Policy');
});

test('finds operations and schemas by words, and says how many', async () => {
  const { page } = await open();
  await page.keyboard.press('/');
  await page.keyboard.type('cancel RUN');
  const shown = await page.locator('article:visible').evaluateAll((articles) => articles.map(({ id }) => id));
  expect(shown).toContain('cancelRun');
  expect(shown).toContain('schema-CancelRun');
  expect(shown).not.toContain('registerWorkflow');
  expect(await page.locator('#state').textContent()).toBe(`${shown.length} found.`);
  await page.fill('#search', 'nothing like this');
  expect(await page.locator('article:visible').count()).toBe(0);
});

test('gives a command to copy that carries what the operation needs', async () => {
  const { page, url } = await open('#createRun');
  await page.locator('#createRun .copy').first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    [
      `curl -X POST '${url}/v1/runs'`,
      '-H "Authorization: Bearer $CAIRN_KEY"',
      "-H 'Content-Type: application/json'",
      `-d '{"workflowId":"hello","inputs":{"name":"Ada"}}'`,
    ].join(' \\\n  '),
  );
  await expect.poll(() => page.locator('#createRun .copy').first().textContent()).toBe('Copied');
});

test('selects the command where there is no clipboard', async () => {
  const { page } = await open('', "Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.locator('#createRun .copy').first().click();
  await expect.poll(() => page.evaluate(() => String(getSelection()))).toContain('curl -X POST');
});

test('follows the colours of the system until told otherwise, and remembers', async () => {
  const { page, url } = await open();
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.click('#theme');
  expect(await ground()).toBe(light);
  await page.goto(`${url}/v1/docs`);
  expect(await ground()).toBe(light);
});

test('says so when the host cannot be asked', async () => {
  const { page, url } = await open();
  await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '{}' }));
  await page.goto(`${url}/v1/docs?again`);
  await expect.poll(() => page.locator('#state').textContent()).toContain('the host answered 503');
});
