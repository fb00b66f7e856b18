/**
 * `npm run studio:shots`: pictures of every screen, light and dark, wide and narrow, with data, empty, loading and with an
 * error. They go to the folder of the first argument, by default one below the temporary folder. A second argument chooses the
 * scenes whose names begin with it.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../browser/chromium.ts';
import { chatApp } from './chat-app.ts';
import { type Scene, screenScenes, talk } from './screen-scenes.ts';
import { newPageContext, openStage, play, type Stage, signedIn } from './stage.ts';

const folder = process.argv[2] ?? join(tmpdir(), 'cairn-studio-shots');
const [, , , wanted = ''] = process.argv;
mkdirSync(folder, { recursive: true });

const never = (page: Page, path: string) => page.route(path, () => new Promise(() => undefined));
const failing = (page: Page, path: string) =>
  page.route(path, (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({
        error: 'forbidden',
        message: 'This credential lacks the scope runs:read.',
        details: { hint: 'Use a key or token that holds runs:read.' },
      }),
    }),
  );

const all: readonly Scene[] = [
  { name: 'runs', path: '/runs', act: (page) => page.keyboard.press('j') },
  {
    name: 'runs-unfolded',
    path: '/runs',
    act: async (page) => {
      await page.locator('button.unfold').first().click();
      await page.waitForTimeout(500);
    },
  },
  { name: 'runs-filtered', path: '/runs?status=failed' },
  { name: 'runs-no-match', path: '/runs?tag=unheard' },
  { name: 'runs-empty', path: '/runs', isEmpty: true },
  { name: 'runs-loading', path: '/runs', before: (page) => never(page, '**/v1/runs?*') },
  { name: 'runs-error', path: '/runs', before: (page) => failing(page, '**/v1/runs?*') },
  {
    name: 'runs-cancel',
    isWide: true,
    path: '/runs?workflow=trip',
    act: async (page) => {
      await page.getByRole('checkbox').first().check({ force: true });
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    },
  },
  {
    name: 'runs-bad-filter',
    path: '/runs',
    act: async (page) => {
      await page.getByLabel('Filter runs').fill('status:broken');
      await page.keyboard.press('Enter');
    },
  },
  { name: 'inbox', path: '/inbox', act: (page) => page.locator('.entry').first().click() },
  { name: 'inbox-form', path: '/inbox', act: (page) => page.locator('.entry', { hasText: 'Which city' }).click() },
  { name: 'inbox-list', path: '/inbox' },
  { name: 'inbox-empty', path: '/inbox', isEmpty: true },
  { name: 'inbox-loading', path: '/inbox', before: (page) => never(page, '**/cairn/inbox') },
  { name: 'palette', path: '/runs', act: (page) => page.keyboard.press('Control+k') },
  { name: 'help', path: '/runs', act: (page) => page.keyboard.press('?') },
  { name: 'not-found', path: '/runs/run_no_such_run' },
  ...['conversation', 'timeline', 'causes', 'workflow', 'log'].map((tab) => ({
    name: `run-${tab}`,
    path: `/runs/{crew}?tab=${tab}`,
  })),
  { name: 'run-event', path: '/runs/{crew}?tab=log&event=12' },
  { name: 'run-past', path: '/runs/{crew}?at=12' },
  { name: 'run-causes-of', path: '/runs/{crew}?tab=causes&event=12' },
  { name: 'run-waiting', path: '/runs/{waiting}' },
  { name: 'run-failed', path: '/runs/{failed}' },
  { name: 'run-loading', path: '/runs/{crew}', before: (page) => never(page, '**/v1/runs/**') },
  {
    name: 'run-fork',
    path: '/runs/{crew}?at=5',
    act: (page) => page.getByRole('button', { name: 'Fork from here' }).click(),
  },
  { name: 'compare', path: '/compare/{crew}/{other}' },
  { name: 'compare-loading', path: '/compare/{crew}/{other}', before: (page) => never(page, '**/v1/runs/**') },
  { name: 'compare-error', path: '/compare/{crew}/run_no_such_run' },
  ...screenScenes,
];
const scenes = all.filter(({ name }) => name.startsWith(wanted));

async function shoot(
  stage: Stage,
  empty: Stage,
  page: Page,
  { name, path, isEmpty, before, act }: Scene,
  label: string,
): Promise<void> {
  await before?.(page);
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => runIds[name] ?? '');
  await page.goto(`${(isEmpty === true ? empty : stage).url}${named}`);
  await page.locator('.shell').waitFor();
  await page.waitForTimeout(700);
  await act?.(page);
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}-${label}.png`) });
  await page.unrouteAll();
}

const full = scenes.filter(({ isEmpty }) => isEmpty !== true);
const [empty, browser] = await Promise.all([openStage(0, { hostId: 'hosts.example.org/beta' }), launchBrowser()]);
const stage = await openStage(0, { app: chatApp, peers: [{ hostId: 'hosts.example.org/beta', url: empty.url }] });
const crew = await play(stage);
const newest = async (workflowId: string) => (await stage.client.runs.list({ workflowId })).runs[0]?.runId ?? '';
const { runId: other } = await stage.client.runs.create({
  workflowId: 'research-crew',
  inputs: { topic: 'Wind power on the Gaspé' },
});
await stage.client.runs.wait(other);
// A run that starts others, one of which asks.
await stage.client.runs.create({ workflowId: 'newsroom', inputs: { story: 'The new bridge over the harbour' } });
const runIds: Readonly<Record<string, string>> = {
  crew,
  other,
  waiting: await newest('release-vote'),
  failed: await newest('stumbles'),
  ...(await talk(stage)),
};
for (const width of [1280, 400]) {
  const context = await newPageContext(browser, width);
  const page = await signedIn(stage, context);
  const other = await context.newPage();
  const fresh = await context.newPage();
  for (const theme of ['light', 'dark'] as const) {
    const label = `${theme}-${width}`;
    for (const one of [page, other, fresh]) await one.emulateMedia({ colorScheme: theme });
    for (const scene of full.filter(({ isWide }) => width > 640 || isWide !== true))
      await shoot(stage, empty, page, scene, label);
    // Cookies know no ports: the sign-in at the other host takes the place of the first.
    await other.goto((await empty.client.session.createLink()).url);
    await other.waitForURL('**/runs');
    for (const scene of scenes.filter(({ isEmpty }) => isEmpty === true))
      await shoot(stage, empty, other, scene, label);
    await context.clearCookies();
    await fresh.goto(`${stage.url}/sign-in`);
    await fresh.getByLabel('Key of this host').waitFor();
    await fresh.screenshot({ path: join(folder, `sign-in-${label}.png`) });
    await fresh.goto(`${stage.url}/sign-in#${'x'.repeat(43)}`);
    await fresh.getByRole('alert').waitFor();
    await fresh.screenshot({ path: join(folder, `sign-in-error-${label}.png`) });
    await page.goto((await stage.client.session.createLink()).url);
    await page.waitForURL('**/runs');
  }
  await context.close();
}
await browser.close();
await Promise.all([stage.close(), empty.close()]);
process.stdout.write(`${folder}\n`);
