/** The documentation in a real browser, as the host serves it at `/docs`. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import { buildStaleSite } from '../../scripts/docs-site/build-site.ts';
import { launchBrowser } from './chromium.ts';

let host: Host;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
const asked = new Set<string>();

beforeAll(async () => {
  await buildStaleSite();
  [host, browser] = await Promise.all([
    createHostOver(inMemoryStore(), {
      config: { port: 0, keys: [{ key: 'a-key-for-the-pages-0001', tenant: 'a' }] },
      report: () => undefined,
    }),
    launchBrowser(),
  ]);
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => void asked.add(new URL(request.url()).origin));
});
afterAll(async () => {
  await browser.close();
  await host.close();
});

test('a reader comes from /docs to a page, by the navigation and by the search', async () => {
  await page.goto(`${host.url}/docs`);
  expect(new URL(page.url()).pathname).toBe('/docs/');
  await page.getByRole('navigation').getByRole('link', { name: 'The log and its views' }).click();
  await page.waitForURL('**/docs/concepts/log.html');
  const picture = page.locator('main img');
  expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await page.keyboard.press('/');
  await page.keyboard.type('run_quarant');
  await page.locator('.found a').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors/run_quarantined.html');
  expect(await page.locator('h1').textContent()).toBe('run_quarantined');
});

test('an address without a page says so, and its links work', async () => {
  await page.goto(`${host.url}/docs/reference/nothing-here`);
  expect(await page.locator('h1').textContent()).toBe('No such page');
  await page.getByRole('link', { name: 'first page' }).click();
  await page.waitForURL('**/docs/index.html');
  complaints.length = 0;
});

test('light and dark can be chosen, and nothing is wider than a telephone', async () => {
  await page.goto(`${host.url}/docs/`);
  await page.locator('#theme').click();
  await page.locator('#theme').click();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await page.locator('#theme').click();
  await page.setViewportSize({ width: 400, height: 800 });
  for (const path of ['', 'concepts/agents', 'reference/configuration', 'guides/embed', 'errors/']) {
    await page.goto(`${host.url}/docs/${path}`);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 400]);
  }
});

test('no page has a serious finding of axe, light or dark', async () => {
  const context = await browser.newContext({ locale: 'en-US', bypassCSP: true });
  const one = await context.newPage();
  const findings = (options: object) =>
    one.evaluate(`axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
  for (const path of ['', 'concepts/effects', 'guides/tool']) {
    await one.emulateMedia({ colorScheme: 'light' });
    await one.goto(`${host.url}/docs/${path}`);
    await one.evaluate(axe.source);
    expect([path, await findings({})]).toEqual([path, []]);
    // Only colours differ between the themes.
    await one.emulateMedia({ colorScheme: 'dark' });
    expect([path, 'dark', await findings({ runOnly: ['color-contrast'] })]).toEqual([path, 'dark', []]);
  }
  await context.close();
});

test('nothing asked another host, and no rule of the policy was broken', () => {
  expect([...asked]).toEqual([host.url]);
  expect(complaints).toEqual([]);
});
