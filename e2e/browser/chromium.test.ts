import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, newContext } from './chromium.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function site(body: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('renders text', async () => {
  const page = await (await newContext(browser)).newPage();
  await page.goto(await site('<p>a page</p>'));
  expect((await page.locator('p').boundingBox())?.height).toBeGreaterThan(0);
});

test('keeps a page from reading another origin', async () => {
  const page = await (await newContext(browser)).newPage();
  await page.goto(await site('<p>one</p>'));
  const other = await site('<p>other</p>');
  await expect(page.evaluate((url) => fetch(url), other)).rejects.toThrow('Failed to fetch');
});
