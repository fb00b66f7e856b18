/** The session of a page, from the sign-in to the sign-out, and what a page does without its host. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from '../browser/chromium.ts';
import { KEY, newPageContext, openStage, type Stage, signedIn } from './stage.ts';

let stage: Stage;
let browser: Browser;

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

test('a session that ended in another tab leads to the sign-in, wherever one is, and back', async () => {
  const own = await newPageContext(browser);
  onTestFinished(() => own.close());
  const [first, ...others] = [await signedIn(stage, own), await own.newPage(), await own.newPage()];
  const { runId } = await stage.client.runs.create({ workflowId: 'review' });
  const places = ['/inbox', `/runs/${runId}`];
  for (const [at, tab] of others.entries()) {
    await tab.goto(`${stage.url}${places[at]}`);
    await tab.locator('.pill[data-tone="done"]').waitFor();
  }
  await first.getByRole('button', { name: 'Sign out' }).click();
  const isAsked = (at: number) => (url: URL) =>
    url.pathname === '/sign-in' && url.searchParams.get('back') === places[at];
  await Promise.all(others.map((tab, at) => tab.waitForURL(isAsked(at))));
  for (const [at, tab] of others.entries()) {
    await tab.getByLabel('Key of this host').fill(KEY);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(`**${places[at]}`);
    await tab.locator('.pill[data-tone="done"]').waitFor();
  }
});

test('a screen whose files do not come says so, and a browser without a network still reads a host on its machine', async () => {
  const own = await newPageContext(browser);
  onTestFinished(() => own.close());
  const tab = await signedIn(stage, own);
  await tab.route('**/assets/system-page*', (route) => route.abort());
  await tab.getByRole('link', { name: 'System' }).click();
  await tab.getByRole('heading', { name: 'This screen is not loaded' }).waitFor();
  await tab.unroute('**/assets/system-page*');
  await tab.getByRole('button', { name: 'Load the page again' }).click();
  await tab.getByRole('heading', { name: 'Chain check' }).waitFor();
  await tab.evaluate(() => dispatchEvent(new Event('offline')));
  await tab.getByRole('link', { name: 'Agents' }).click();
  await tab.locator('article h2').waitFor();
});

test('a sign-out that the host did not hear of says that one is still signed in', async () => {
  const own = await newPageContext(browser);
  onTestFinished(() => own.close());
  const tab = await signedIn(stage, own);
  const close = '**/v1/host/cairn/session';
  await tab.route(close, (route) => (route.request().method() === 'DELETE' ? route.abort() : route.continue()));
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'You are still signed in' }).waitFor();
  await tab.keyboard.press('Escape');
  expect(tab.url()).toBe(`${stage.url}/runs`);
  await tab.unroute(close);
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.waitForURL('**/sign-in');
});
