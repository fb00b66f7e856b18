/** The published `useChat` of `@ai-sdk/react` in a real browser, against a real host. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, keys, openShop, resultsIn, type Shop, usage } from '../../packages/host/src/server/ai-sdk/shop.kit.ts';
import { chunk } from '../../packages/host/test/kit/fake-openai.ts';
import { launchBrowser, newContext } from '../browser/chromium.ts';
import type { Site } from '../browser/site.ts';
import { pageSite } from './page-site.ts';

let browser: Browser;
let site: Site;
let shop: Shop;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchBrowser(), pageSite(join(import.meta.dirname, 'page.tsx'))]);
  shop = await openShop({ cors: { origins: [site.origin] } });
});

afterAll(async () => {
  await browser.close();
  await shop[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const allOf = (page: Page, selector: string): Promise<readonly string[]> => page.locator(selector).allTextContents();

async function said(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector, { hasText: text }).first().waitFor();
}

test('useChat completes a run with text, reasoning, tools on both sides, an approval and a question, and survives reloads', async () => {
  const rest = Promise.withResolvers<void>();
  shop.script = (request) => {
    const turns = [
      calls({ name: 'acme:look', input: { order: 'A1' } }, { name: 'pick_color', input: {} }),
      null,
      calls({ name: 'acme:refund', input: { order: 'A1' } }),
      calls({ name: 'acme:wish', input: {} }),
    ];
    const turn = turns[resultsIn(request)];
    if (turn) return turn;
    const chunks = async function* () {
      yield chunk({ reasoning_content: 'It is settled.' });
      yield chunk({ content: 'Your goods ' });
      await rest.promise;
      yield chunk({ content: 'are green.' });
      yield chunk({}, 'stop');
      yield usage;
    };
    return { chunks: chunks() };
  };
  const page = await (await newContext(browser)).newPage();
  page.setDefaultTimeout(15_000);
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(error.message));
  const settings = { api: `${shop.url}/api/ai-sdk/host:desk`, bearer: keys.ann, id: 'a chat of the page' };
  await page.goto(`${site.origin}/#${encodeURIComponent(JSON.stringify(settings))}`);
  await page.fill('#text', 'Refund A1.');
  await page.press('#text', 'Enter');

  await page.locator('.approve', { hasText: 'Refund A1?' }).waitFor();
  expect(await allOf(page, '.tool[data-name="tool-pick_color"]')).toEqual(['tool-pick_color: "green"']);
  // An open approval is there again after a reload.
  await page.reload();
  await page.locator('.approve').click();
  await page.locator('.goods').click();

  await said(page, '.text', 'Your goods');
  await page.reload();
  await said(page, '.text', 'Your goods');
  rest.resolve();
  await said(page, '.text', 'Your goods are green.');
  await said(page, '#status', 'ready');

  const shown = async () => ({
    texts: await allOf(page, '.text'),
    reasoning: await allOf(page, '.reasoning'),
    tools: await allOf(page, '.tool'),
    messages: await page.locator('article').count(),
  });
  const expected = {
    texts: ['Refund A1.', 'Your goods are green.'],
    reasoning: ['It is settled.'],
    tools: [
      'acme:look: {"order":"A1","euros":180}',
      'tool-pick_color: "green"',
      'acme:refund: {"paid":true}',
      'acme:wish: {"wants":"goods"}',
      expect.stringContaining('cairn.question: '),
    ],
    messages: 2,
  };
  expect(await shown()).toEqual(expected);
  await page.reload();
  await said(page, '#status', 'ready');
  expect(await shown()).toEqual(expected);
  expect(failures).toEqual([]);
});
