/** Data that people did not think of breaks no screen: nothing sticks out, nothing throws, everything opens. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../browser/chromium.ts';
import { type HostilePlaces, hostile, hostileApp } from './hostile.kit.ts';
import { newPageContext, openStage, type Stage, signedIn } from './stage.ts';

let stage: Stage;
let browser: Browser;
let places: HostilePlaces;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage(0, { app: hostileApp }), launchBrowser()]);
  places = await hostile(stage);
  page = await signedIn(stage, await newPageContext(browser));
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

interface Opened {
  readonly name: string;
  readonly path: () => string;
  /** What is there when the screen has its data. */
  readonly ready: string;
}

const screens: readonly Opened[] = [
  { name: 'the runs', path: () => '/runs', ready: '.run-row a' },
  { name: 'a run of 10,000 child runs', path: () => `/runs/${places.family}`, ready: '.talk' },
  { name: 'its timeline', path: () => `/runs/${places.family}?tab=timeline`, ready: '.timeline canvas' },
  { name: 'its causes', path: () => `/runs/${places.family}?tab=causes`, ready: '.cause' },
  { name: 'its child runs', path: () => `/runs?parent=${places.family}`, ready: '.run-row a' },
  { name: 'a run whose child runs are all open', path: () => `/runs/${places.openFamily}`, ready: '.talk' },
  { name: 'events of 5 MB', path: () => `/runs/${places.large}?tab=log&event=3`, ready: '.inspector' },
  { name: 'a run with a very long name', path: () => `/runs/${places.named}`, ready: '.run-title h1' },
  { name: 'the inbox', path: () => '/inbox', ready: '.entry .name' },
  { name: 'a conversation', path: () => `/chat/${places.talk}`, ready: '.said[data-role="agent"]' },
  { name: 'an agent', path: () => '/agents/host:babbler', ready: 'article h2' },
  { name: 'the artifacts', path: () => '/artifacts', ready: '.artifact-row .name' },
  { name: 'a comparison', path: () => `/compare/${places.named}/${places.large}`, ready: '.compare-side strong' },
];

test.for(screens)('$name opens, and nothing of it sticks out, wide or narrow', async ({ path, ready }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${stage.url}${path()}`);
  await page.locator(ready).first().waitFor();
  await page.locator('.bone').first().waitFor({ state: 'detached' });
  expect(await stickingOut(page)).toEqual([]);
  await page.setViewportSize({ width: 400, height: 800 });
  // What a screen hides when it is narrow, it hides in the next frame.
  await expect.poll(() => stickingOut(page)).toEqual([]);
});

test('no screen threw', () => {
  expect(complaints).toEqual([]);
});

/** Elements that are wider than the window, but for those inside a frame that scrolls, and for text that ends in dots. */
const stickingOut = (of: Page): Promise<readonly string[]> =>
  of.evaluate(() => {
    const isOut = (element: Element) => element.getBoundingClientRect().right > innerWidth + 1;
    const isFrame = (element: Element): boolean => {
      const { overflowX, textOverflow } = getComputedStyle(element);
      return (overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis') && !isOut(element);
    };
    const isFramed = (element: Element): boolean => {
      for (let around = element.parentElement; around !== null; around = around.parentElement)
        if (isFrame(around)) return true;
      return false;
    };
    return [...document.querySelectorAll('#root *:not(.only-read)')]
      .filter((element) => element.getClientRects().length > 0 && isOut(element) && !isFramed(element))
      .slice(0, 3)
      .map((element) => `${element.tagName} ${element.getAttribute('class')}`);
  });
