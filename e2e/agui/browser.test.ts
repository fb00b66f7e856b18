/** The published AG-UI client in a real browser, against a real host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@cairn/host';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { pageSite } from '../ai-sdk/page-site.ts';
import { launchBrowser, newContext } from '../browser/chromium.ts';
import { type PausedModel, pausedModel } from '../browser/paused-model.ts';
import type { Site } from '../browser/site.ts';
import { gate, keys, openDesk } from './desk-host.ts';

const data = mkdtempSync(join(tmpdir(), 'cairn-agui-browser-'));
let browser: Browser;
let site: Site;
let model: PausedModel;
let host: Host;

const words = (from: number, count: number) => Array.from({ length: count }, (_, i) => `w${from + i} `);
const passages = [words(0, 300), words(300, 100), words(400, 100)] as const;
const upTo = (count: number) => ['user: Write a novel.', `assistant: ${passages.slice(0, count).flat().join('')}`];

beforeAll(async () => {
  [browser, site, model] = await Promise.all([
    launchBrowser(),
    pageSite(join(import.meta.dirname, 'page.ts')),
    pausedModel(passages),
  ]);
  host = await openDesk(data, { origins: [site.origin], models: model.models });
});

afterAll(async () => {
  await browser.close();
  await host.close();
  await model[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  rmSync(data, { recursive: true, force: true });
});

const looked = ['user: Where is my parcel?', 'assistant: I look.'];
const asked = [...looked, 'tool: parcel is at the depot', 'assistant: One question.'];
const done = [...asked, 'tool: Basel', 'assistant: All done.'];

/** The page for an agent. Its errors fail the test. */
async function openPage(agentId: string): Promise<Page> {
  const page = await (await newContext(browser)).newPage();
  page.setDefaultTimeout(15_000);
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(error.message));
  onTestFinished(() => expect(failures).toEqual([]));
  const settings = { api: `${host.url}/api/agui/${agentId}`, bearer: keys.ann, threadId: `a thread of ${agentId}` };
  await page.goto(`${site.origin}/#${encodeURIComponent(JSON.stringify(settings))}`);
  return page;
}

const allSaid = (page: Page) => page.locator('.said').allTextContents();

test('the client completes a run with text, a tool and a question, and survives reloads in the middle', async () => {
  gate.shut();
  const page = await openPage('host:desk');
  const shown = (text: string) => page.locator('.said', { hasText: text }).waitFor();
  const said = () => allSaid(page);
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
});

test('a reload in the middle of a text shows every piece once, and the rest as it is written', async () => {
  const page = await openPage('host:novelist');
  const shown = (text: string) => page.locator('.said', { hasText: text }).waitFor();
  await page.fill('#text', 'Write a novel.');
  await page.press('#text', 'Enter');
  await shown('w299');

  await page.reload();
  await shown('w299');
  expect(await allSaid(page)).toEqual(upTo(1));
  model.goOn();
  await shown('w399');
  expect(await allSaid(page)).toEqual(upTo(2));
  model.goOn();
  await page.locator('#status', { hasText: 'ready' }).waitFor();
  expect(await allSaid(page)).toEqual(upTo(3));
});
