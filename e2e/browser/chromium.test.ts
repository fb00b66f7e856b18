import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, newContext } from './chromium.ts';
import { emptySite } from './site.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

test('renders text', async () => {
  await using site = await emptySite();
  const page = await (await newContext(browser)).newPage();
  await page.goto(site.origin);
  expect((await page.locator('p').boundingBox())?.height).toBeGreaterThan(0);
});

test('keeps a page from reading another origin', async () => {
  await using site = await emptySite();
  await using other = await emptySite();
  const page = await (await newContext(browser)).newPage();
  await page.goto(site.origin);
  await expect(page.evaluate((url) => fetch(url), other.origin)).rejects.toThrow('Failed to fetch');
});
