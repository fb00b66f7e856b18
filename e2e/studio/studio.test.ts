/** Studio in a real browser, over a real host: what people do with it, and what an attacker cannot. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { studioFolder } from '../../packages/studio/build/build-studio.ts';
import { launchBrowser } from '../browser/chromium.ts';
import { axeTests } from './axe.ts';
import { longRun } from './long-run.kit.ts';
import { KEY, newPageContext, openStage, play, runRows, type Stage, signedIn } from './stage.ts';

let stage: Stage;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** The run of three agents. */
let crew: string;
/** What the browser complained about: broken rules of the policy, errors of the page. */
const complaints: string[] = [];
const asked: string[] = [];
const paths: string[] = [];

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage(), launchBrowser()]);
  crew = await play(stage);
  context = await newPageContext(browser);
  page = await signedIn(stage, context);
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    asked.push(origin);
    paths.push(pathname);
  });
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

const rows = () => runRows(page);

test('the first load is under 300 KB, compressed', () => {
  const page = readFileSync(join(studioFolder, 'index.html'), 'utf8');
  // The page names every file that its first screen needs; the other screens are loaded when they are opened.
  const files = ['index.html', ...[...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name = '']) => name)];
  expect(files.length).toBeGreaterThan(3);
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(studioFolder, name))).length, 0);
  expect(bytes).toBeLessThan(300_000);
});

test('the link has gone from the address, and works no second time', async () => {
  expect(page.url()).toBe(`${stage.url}/runs`);
  const { url } = await stage.client.session.createLink();
  const other = await newPageContext(browser);
  onTestFinished(() => other.close());
  const second = await other.newPage();
  await second.goto(url);
  await second.waitForURL('**/runs');
  await other.clearCookies();
  await second.goto('about:blank');
  await second.goto(url);
  await second.getByRole('alert').waitFor();
  expect(await second.getByRole('alert').textContent()).toContain('unauthenticated');
  await second.getByLabel('Key of this host').fill(KEY);
  await second.getByRole('button', { name: 'Sign in' }).click();
  await second.waitForURL('**/runs');
  expect(await second.evaluate(() => [document.cookie, { ...localStorage }, { ...sessionStorage }])).toEqual([
    '',
    {},
    {},
  ]);
});

test('the run list shows what runs are about, what they wait on, and new ones as they start', async () => {
  await rows().first().waitFor();
  const crew = rows().filter({ hasText: 'Tidal power' });
  await expect.poll(() => crew.textContent()).toMatch(/Completed.*research-crew.*researcher.*k/);
  await rows().filter({ hasText: 'release-vote' }).getByText('Release 2026.11 to all customers?').waitFor();
  await rows().filter({ hasText: 'stumbles' }).getByText('expression_failed').waitFor();
  await stage.client.runs.create({ workflowId: 'hello', inputs: { name: 'Somebody new' } });
  await rows().filter({ hasText: 'Somebody new' }).waitFor();
  const { runId } = await stage.client.runs.create({ workflowId: 'review', inputs: { title: 'A row that changes' } });
  const changing = rows().filter({ hasText: 'A row that changes' });
  await changing.getByText('Needs approval').waitFor();
  await stage.client.runs.cancel(runId);
  await changing.getByText('Cancelled').waitFor();
  // Everything in a row comes with the list.
  expect(paths.filter((path) => path.startsWith('/v1/runs/'))).toEqual([]);
});

test('runs that a run started are folded into its row, by hand and by key, and a filter finds them', async () => {
  const { runId } = await stage.client.runs.create({ workflowId: 'newsroom', inputs: { story: 'A new bridge' } });
  const status = async () => (await stage.client.runs.list({ workflowId: 'newsroom' })).runs[0]?.status;
  // A run two below it asks.
  await expect.poll(status).toMatch(/^waiting-/);
  const { runs: children } = await stage.client.runs.list({ parentRunId: runId });
  expect(children.length).toBeGreaterThan(1);
  await page.goto(`${stage.url}/runs`);
  const links = (id: string) => page.locator(`.title a.cut[href="/runs/${id}"]`);
  const row = page.locator('.run-row').filter({ has: links(runId) });
  expect(await links(children[0]?.runId ?? '').count()).toBe(0);
  await row.getByRole('button', { name: 'child runs' }).click();
  for (const child of children) await links(child.runId).waitFor();
  // A run below has runs of its own.
  const parent = children.find(({ summary }) => (summary?.childCount ?? 0) > 0);
  const [grandchild] = (await stage.client.runs.list({ parentRunId: parent?.runId ?? '' })).runs;
  const middle = page.locator('.run-row').filter({ has: links(parent?.runId ?? '') });
  await middle.getByRole('button', { name: 'child run' }).click();
  await links(grandchild?.runId ?? '').waitFor();
  // It is the newest run, and so the first row.
  await page.keyboard.press('j');
  await row.and(page.locator('[data-current]')).waitFor();
  await page.keyboard.press('o');
  await links(children[0]?.runId ?? '').waitFor({ state: 'detached' });
  await page.goto(`${stage.url}/runs?workflow=${grandchild?.workflowId}`);
  await links(grandchild?.runId ?? '').waitFor();
  await page.getByRole('link', { name: `Started by ${parent?.runId}` }).waitFor();
  await page.getByRole('button', { name: 'Child runs' }).click();
  await page.waitForURL('**/runs?parent=any');
  await links(children[0]?.runId ?? '').waitFor();
  await stage.client.runs.cancel(runId);
  await page.goto(`${stage.url}/runs`);
  await rows().first().waitFor();
});

test('filters live in the address, in the words of the command line', async () => {
  // A page that is still loading hears no keys.
  await rows().first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('status:failed');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs?status=failed');
  await expect.poll(() => rows().count()).toBe(1);
  await page.getByLabel('Filter runs').fill('colour:red');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('alert').textContent()).toContain('“colour:red” is not a filter');
  await page.goBack();
  await page.waitForURL('**/runs');
});

test('the keyboard reaches rows, the palette and the help', async () => {
  await rows().first().waitFor();
  await page.locator('body').click({ position: { x: 640, y: 20 } });
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.locator('.run-row[data-current] a:focus').waitFor();
  await page.keyboard.press('x');
  await page.locator('.run-row[data-selected]').waitFor();
  await page.keyboard.press('x');
  await page.locator('.run-row[data-selected]').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs/run_*');
  await page.getByRole('tab', { name: 'Timeline' }).waitFor();
  await page.goBack();
  await rows().first().waitFor();
  await page.keyboard.press('?');
  expect(await page.getByRole('dialog', { name: 'Keys' }).textContent()).toContain('Next run');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('tidal crew');
  await page.getByRole('option', { name: 'Tidal power in the Bay of Fundy' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${crew}`);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('inbox');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/inbox');
});

test('the palette keeps the chosen entry in view, however long its list is', async () => {
  await page.goto(`${stage.url}/runs/${crew}`);
  await page.getByText('Run completed').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.press('ArrowUp');
  const last = page.getByRole('option', { name: 'Sign out' });
  await expect.poll(() => last.getAttribute('aria-selected')).toBe('true');
  const [frame, entry] = [await page.locator('#palette-list').boundingBox(), await last.boundingBox()];
  expect((entry?.y ?? 0) + (entry?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0) + 1);
  await page.keyboard.press('Escape');
});

test('a run shows what it returned and what its steps gave, and leads to its artifacts', async () => {
  await page.locator('.talk[data-kind="notice"] summary', { hasText: 'Result content: # Tidal power' }).waitFor();
  await page.locator('.talk[data-kind="artifact"]').getByRole('link', { name: 'brief.md' }).click();
  await page.waitForURL('**/artifacts/ctx_*/brief.md?version=1');
  await page.getByRole('link', { name: 'Its run' }).click();
  await page.waitForURL(`**/runs/${crew}`);
  const [hello] = (await stage.client.runs.list({ workflowId: 'hello' })).runs;
  await page.goto(`${stage.url}/runs/${hello?.runId}`);
  await page.locator('.talk[data-kind="step"] summary').first().click();
  await page.locator('.talk[data-kind="step"]').getByText('Outputs').first().waitFor();
});

test('a double click on Retry makes one run', async () => {
  const list = async () => (await stage.client.runs.list({ workflowId: 'stumbles' })).runs;
  const [failed, ...others] = await list();
  await page.goto(`${stage.url}/runs/${failed?.runId}`);
  await page.getByRole('button', { name: 'Retry' }).dblclick();
  await page.waitForURL((url) => url.pathname !== `/runs/${failed?.runId}`);
  await page.getByText('Run failed').waitFor();
  const retries = (await list()).filter(({ runId }) => runId !== failed?.runId);
  expect(retries.length).toBe(others.length + 1);
});

test('two runs that are selected by key are compared', async () => {
  await page.goto(`${stage.url}/runs`);
  await rows().first().waitFor();
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByText('2 selected').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('2 selected').waitFor({ state: 'detached' });
  for (const key of ['x', 'k', 'x']) await page.keyboard.press(key);
  await page.getByRole('link', { name: 'Compare', exact: true }).waitFor();
  await page.keyboard.press('c');
  await page.waitForURL('**/compare/run_*/run_*');
});

test('a question tells the way to it, who voted, how long it waits, and what each answer does', async () => {
  await page.goto(`${stage.url}/inbox`);
  await page.locator('.entry', { hasText: 'Release 2026.11' }).click();
  const question = page.getByRole('article');
  await question.getByText('1 of 2 approved').waitFor();
  const votes = await question.getByRole('region', { name: 'Votes' }).textContent();
  for (const part of ['grace', 'accept', 'The figures are right.']) expect(votes).toContain(part);
  const text = await question.textContent();
  for (const part of ['Expiresin 1 h', 'Faster search', 'The run continues on its “rejected” path'])
    expect(text).toContain(part);
  await question.getByRole('link', { name: 'release-vote' }).waitFor();
});

test('a decision that an agent is unsure of stands against its threshold, and a person decides', async () => {
  const { runId } = await stage.client.runs.create({ workflowId: 'support-triage', inputs: { ticket: 'It is late' } });
  await stage.client.runs.wait(runId);
  await page.goto(`${stage.url}/inbox`);
  await page.locator('.entry', { hasText: 'support-triage' }).click();
  const question = page.getByRole('article');
  await question.getByRole('img', { name: /^Confidence \d+ %, threshold 75 %$/ }).waitFor();
  await question.getByText(/^The agent is \d+ % sure; it decides alone from 75 % on\.$/).waitFor();
  await question.getByRole('button', { name: 'Approve' }).click();
  await page.locator('.entry', { hasText: 'support-triage' }).waitFor({ state: 'detached' });
  expect((await stage.client.runs.wait(runId)).status).toBe('completed');
});

test('a question is answered by its form, and goes; text of others stays text', async () => {
  await page.goto(`${stage.url}/inbox`);
  await page.locator('.entry', { hasText: 'Which city' }).click();
  await page.getByLabel('Which city?').selectOption('Lyon');
  await page.getByLabel('How many nights?').fill('3');
  await page.getByLabel(/Anything to know/).fill('no');
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await expect.poll(() => page.locator('.entry').count()).toBe(2);
  const { runs } = await stage.client.runs.list({ workflowId: 'trip' });
  expect((await stage.client.runs.wait(runs[0]?.runId ?? '')).status).toBe('completed');
});

test('a second click answers no other question, and a question that is gone gives way to none by itself', async () => {
  const ask = async (title: string) => {
    const { runId } = await stage.client.runs.create({ workflowId: 'review', inputs: { title } });
    await stage.client.runs.wait(runId);
    const entry = (await stage.client.inbox.list()).entries.find((one) => one.runId === runId);
    return { runId, open: () => page.goto(`${stage.url}/inbox?run=${runId}&question=${entry?.interruptId}`) };
  };
  const gone = page.getByRole('heading', { name: 'This question is not open any more' });
  const [first, second] = [await ask('First of two'), await ask('Second of two')];
  await first.open();
  await page.getByRole('button', { name: 'Accept' }).click();
  await gone.waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  expect((await stage.client.runs.get(second.runId)).status).toBe('waiting-approval');
  await second.open();
  await page.getByRole('button', { name: 'Accept' }).waitFor();
  await stage.client.runs.cancel(second.runId);
  await gone.waitFor();
  await page.getByRole('link', { name: 'Open the oldest question' }).click();
  await page.getByRole('article').waitFor();
  expect(await page.locator('.entry').first().getAttribute('aria-current')).not.toBeNull();
});

test('the keys keep the question that they choose in view', async () => {
  await page.setViewportSize({ width: 1280, height: 200 });
  onTestFinished(() => page.setViewportSize({ width: 1280, height: 800 }));
  await page.goto(`${stage.url}/inbox`);
  const entries = page.locator('.entry');
  await entries.first().waitFor();
  for (let left = await entries.count(); left > 0; left -= 1) await page.keyboard.press('j');
  await expect.poll(() => entries.last().getAttribute('aria-current')).not.toBeNull();
  const box = await entries.last().boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(201);
});

test('runs are cancelled only after a question that says how many', async () => {
  await page.goto(`${stage.url}/runs?workflow=release-vote`);
  await page.getByRole('checkbox').first().check({ force: true });
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel runs' });
  await dialog.getByRole('button', { name: 'Keep running' }).click();
  expect((await stage.client.runs.list({ workflowId: 'release-vote' })).runs[0]?.status).toBe('waiting-approval');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel 1 run' }).click();
  await rows().filter({ hasText: 'Cancelled' }).waitFor();
});

test('a list of very many runs scrolls, and keeps only the pages around the view', async () => {
  const many = 1_000_000;
  const own = await newPageContext(browser);
  onTestFinished(() => own.close());
  const long = await signedIn(stage, own);
  await long.route('**/v1/runs?*', (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const startedAt = new Date(0).toISOString();
    const runs = Array.from({ length: 100 }, (_, i) => ({
      runId: `run_${at + i}`,
      workflowId: `w${at + i}`,
      status: 'completed',
      startedAt,
    }));
    return route.fulfill({ json: { runs, nextCursor: at + 100 < many ? String(at + 100) : null } });
  });
  await long.goto(`${stage.url}/runs?tag=many`);
  await runRows(long).first().waitFor();
  for (let step = 1; step <= 7; step += 1) {
    await long.locator('.run-list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await long
      .getByText(`w${step * 100}`, { exact: true })
      .first()
      .waitFor({ state: 'attached' });
  }
  expect(await runRows(long).count()).toBeLessThan(60);
  await long.locator('.run-list').evaluate((list) => list.scrollTo(0, 100 * 32));
  await long.getByText('w105', { exact: true }).first().waitFor();
});

test('a run of 100,000 events opens at its end, and scrolls back to its first event', async () => {
  const runId = await longRun(stage, 100_000);
  await page.goto(`${stage.url}/runs/${runId}?tab=log`);
  const events = page.locator('.log-row');
  await events.filter({ hasText: '99999' }).getByText('run.completed').waitFor();
  // The slider works once all events are there.
  await page.locator('.scrubber input:enabled').waitFor();
  await page.locator('.log-rows').evaluate((list) => list.scrollTo(0, 50_000 * 28));
  await events.getByText('50000', { exact: true }).waitFor();
  await page.locator('.log-rows').evaluate((list) => list.scrollTo(0, 0));
  await events.getByText('run.started', { exact: true }).waitFor();
  expect(await events.count()).toBeLessThan(150);
});

const ofCrew = (place: string) => () => `/runs/${crew}?${place}`;

/** The run of three agents beside one that greets. */
async function comparison(): Promise<string> {
  const [greeting] = (await stage.client.runs.list({ workflowId: 'hello', limit: 1 })).runs;
  return `/compare/${crew}/${greeting?.runId}`;
}

axeTests(
  () => ({ browser, stage }),
  [
    { name: 'the runs', path: () => '/runs', ready: '.run-row a' },
    { name: 'the inbox', path: () => '/inbox', ready: '.entry .name' },
    { name: 'the sign-in', path: () => '/sign-in', ready: 'h1' },
    { name: 'an unknown run', path: () => '/runs/run_unknown', ready: '.problem' },
    { name: 'a comparison', path: comparison, ready: '.divergence' },
    { name: 'an event', path: ofCrew('event=3'), ready: '.inspector' },
    ...['timeline', 'causes', 'workflow', 'log'].map((tab) => ({
      name: `the tab ${tab}`,
      path: ofCrew(`tab=${tab}`),
      ready: '[role="tabpanel"], .run h1',
    })),
  ],
);

test('the pill tells that the host is gone, and that it is back', async () => {
  const port = Number(new URL(stage.url).port);
  const pill = page.locator('.pill');
  await page.goto(`${stage.url}/runs`);
  await rows().nth(6).waitFor();
  await expect.poll(() => pill.textContent()).toBe('Live');
  await stage.close();
  await expect.poll(() => pill.textContent()).toBe('Offline');
  expect(await rows().count()).toBeGreaterThan(5);
  stage = await openStage(port);
  await expect.poll(() => pill.textContent()).toBe('Live');
});

test('nothing asked another host, and no rule of the policy was broken', () => {
  expect([...new Set(asked)]).toEqual([stage.url]);
  // The browser tells of requests while the host was gone.
  expect(complaints.filter((text) => !text.includes('ERR_') && !text.includes('Failed to load resource'))).toEqual([]);
});
