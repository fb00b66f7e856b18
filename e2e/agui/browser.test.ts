/** The published AG-UI client in a real browser, against a real host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@cairn/host';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageSite } from '../ai-sdk/page-site.ts';
import { launchBrowser, newContext } from '../browser/chromium.ts';
import type { Site } from '../browser/site.ts';
import { gate, keys, openDesk } from './desk-host.ts';

const data = mkdtempSync(join(tmpdir(), 'cairn-agui-browser-'));
let browser: Browser;
let site: Site;
let host: Host;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchBrowser(), pageSite(join(import.meta.dirname, 'page.ts'))]);
  host = await openDesk(data, [site.origin]);
});

afterAll(async () => {
  await browser.close();
  await host.close();
  await site[Symbol.asyncDispose]();
  rmSync(data, { recursive: true, force: true });
});

const looked = ['user: Where is my parcel?', 'assistant: I look.'];
const asked = [...looked, 'tool: parcel is at the depot', 'assistant: One question.'];
const done = [...asked, 'tool: Basel', 'assistant: All done.'];

test('the client completes a run with text, a tool and a question, and survives reloads in the middle', async () => {
  gate.shut();
  const page = await (await newContext(browser)).newPage();
  page.setDefaultTimeout(15_000);
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(error.message));
  const shown = (text: string) => page.locator('.said', { hasText: text }).waitFor();
  const said = () => page.locator('.said').allTextContents();
  const settings = { api: `${host.url}/api/agui/host:desk`, bearer: keys.ann, threadId: 'a thread of the page' };
  await page.goto(`${site.origin}/#${encodeURIComponent(JSON.stringify(settings))}`);
  await page.fill('#text', 'Where is my parcel?');
  await page.press('#text', 'Enter');
  await gate.reached;
  await shown('assistant: I look.');
  // It came piece by piece.
  expect(Number(await page.locator('main').getAttribute('data-pieces'))).toBeGreaterThanOrEqual(2);

  // The tool is at work.
  await page.reload();
  await shown('assistant: I look.');
  expect(await said()).toEqual(looked);
  gate.open();
  await page.locator('.answer', { hasText: 'Where to?' }).waitFor();
  expect(await said()).toEqual(asked);

  // An open question is there again after a reload.
  await page.reload();
  await page.locator('.answer', { hasText: 'Where to?' }).click();
  await shown('assistant: All done.');
  await page.locator('#status', { hasText: 'ready' }).waitFor();
  expect(await said()).toEqual(done);

  await page.reload();
  await page.locator('#status', { hasText: 'ready' }).waitFor();
  expect(await said()).toEqual(done);
  expect(await page.locator('.answer').count()).toBe(0);
  expect(failures).toEqual([]);
});
