/** The run screen in a real browser, over a real host that is also stopped and started again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHost, type Host } from '../../packages/host/src/index.ts';
import { scopes } from '../../packages/host/src/server/access/auth.ts';
import { buildStaleStudio } from '../../packages/studio/build/build-studio.ts';
import { launchBrowser } from '../browser/chromium.ts';
import { desk } from './research-desk.ts';

const key = 'a-key-for-the-run-screen-0123456789';

let folder: string;
let browser: Browser;
let host: Host;
let page: Page;
const problems: string[] = [];

const start = (port: number): Promise<Host> =>
  createHost({
    ...desk,
    report: () => undefined,
    config: {
      data: folder,
      port,
      keys: [{ key, tenant: 't', principal: 'ada', scopes: [...scopes], toolScopes: ['tool:*'] }],
    },
  });

const client = () => createClient({ url: host.url ?? '', key });

async function waitingReport(topic: string): Promise<string> {
  const configurable = { budget: { maxToolCalls: 12 } };
  const { runId } = await client().runs.create({ workflowId: 'report', inputs: { topic }, configurable });
  expect((await client().runs.wait(runId)).status).toBe('waiting-approval');
  return runId;
}

const open = (path: string) => page.goto(`${host.url}${path}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cairn-run-screen-'));
  [browser] = await Promise.all([launchBrowser(), buildStaleStudio()]);
  host = await start(0);
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto((await client().session.createLink()).url);
  await page.waitForURL('**/runs');
});

afterAll(async () => {
  await browser.close();
  await host.close();
  await rm(folder, { recursive: true, force: true });
});

test('shows a tool at work as it happens, and stops the run', async () => {
  const { runId } = await client().runs.create({ workflowId: 'dig' });
  await open(`/runs/${runId}`);
  await page.getByText('Digging, 1 of 4 m').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Run cancelled').waitFor();
  await page.locator('.run-title').getByText('Cancelled').waitFor();
  expect((await client().runs.get(runId)).status).toBe('cancelled');
});

test('is paused and stopped out of the palette, and goes on by its button', async () => {
  const act = async (words: string) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
  };
  const { runId } = await client().runs.create({ workflowId: 'dig' });
  await open(`/runs/${runId}`);
  await page.getByText('Digging, 1 of 4 m').waitFor();
  const title = page.locator('.run-title');
  const asked = page.waitForResponse(`**/runs/${runId}:pause`);
  await act('pause the run');
  expect((await asked).status()).toBe(202);
  // The tool would go on for ever.
  await client().runs.pause(runId, { drainPolicy: 'immediate' });
  await title.getByText('Paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await title.getByText('Running').waitFor();
  await act('stop the run');
  await title.getByText('Cancelled').waitFor();
});

test('one selection holds on every tab, and the inspector tells its cause and its hash', async () => {
  const runId = await waitingReport('bridges');
  await open(`/runs/${runId}?tab=log`);
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('agent.toolCalled');
  await page.getByRole('option', { name: 'agent.toolCalled' }).first().click();
  await page.waitForURL(/event=/);
  const seq = new URL(page.url()).searchParams.get('event');
  const inspector = page.getByRole('complementary', { name: `Event ${seq}` });
  await inspector.getByText('acme.web:search').first().waitFor();
  await inspector
    .getByText(/toolAllowlist/)
    .first()
    .waitFor();
  await inspector.getByRole('button', { name: /cairn\.model\.returned/ }).waitFor();
  await inspector.getByTitle(/^[0-9a-f]{64}$/).waitFor();
  await inspector.getByTitle(/^[0-9a-f]{32}$/).waitFor();
  expect(await inspector.getByRole('link', { name: 'researcher' }).getAttribute('href')).toContain('/agents/');
  await page.getByRole('tab', { name: 'Causes' }).click();
  await page.locator('.cause[data-relation="selected"]', { hasText: `${seq} agent.toolCalled` }).waitFor();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page
    .locator('.timeline-tools')
    .getByText(/acme\.web:search \(tool\)/)
    .waitFor();
  await page.keyboard.press('g');
  await page.locator('.step-box', { hasText: 'sign' }).getByText('waiting').waitFor();
  await page.keyboard.press('c');
  await page.locator('.talk[data-selected="true"]', { hasText: 'acme.web:search' }).waitFor();
});

test('the head of a run leads to its children, and a child to the event that caused it', async () => {
  const runId = await waitingReport('bridges');
  await open(`/runs/${runId}`);
  const head = page.locator('.run-header');
  await head.getByText(/^\d+ % of 12 tool calls$/).waitFor({ state: 'attached' });
  await head.getByRole('link', { name: '1 child' }).click();
  await page.waitForURL(`**/runs?parent=${runId}`);
  await page.locator('.run-row a.cut', { hasText: 'survey' }).first().click();
  await page.waitForURL(`**/runs/${runId}.*`);
  await head.getByText('below').waitFor();
  // Its events are read after its head.
  await page.getByText('Run completed').waitFor();
  await page.keyboard.press('j');
  const cause = page.getByRole('complementary', { name: 'Event 0' }).getByText(/^event \d+ of/);
  await cause.getByRole('link').click();
  await page.waitForURL((url) => url.pathname === `/runs/${runId}` && url.searchParams.has('event'));
  await page.getByRole('complementary').getByText('cairn.step.requested').first().waitFor();
});

test('an address that names no event, no moment and no tab shows the run as it is', async () => {
  const runId = await waitingReport('bridges');
  await open(`/runs/${runId}?tab=bogus&event=abc&at=1.5`);
  await page.getByText('waits for an answer').waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  expect(await page.locator('.inspector').count()).toBe(0);
  await open(`/runs/${runId}?event=99999`);
  await page.getByRole('complementary').getByText('The run has no such event').waitFor();
});

test('scrubs to any event, and forks from there with other inputs and a rule for each later call', async () => {
  const runId = await waitingReport('bridges');
  await open(`/runs/${runId}`);
  await page.getByText('waits for an answer').waitFor();
  const last = (await client().events.all(runId)).at(-1)?.sequence ?? 0;
  await page.locator('body').press('[');
  await page.getByText(`${last - 1} of ${last}`).waitFor();
  // The keys work on the slider too, and where a keyboard has the sign on AltGr.
  await page.getByRole('slider', { name: 'Event' }).press('[');
  await page.getByText(`${last - 2} of ${last}`).waitFor();
  await page.evaluate(() =>
    document.body.dispatchEvent(
      new KeyboardEvent('keydown', { key: '[', altKey: true, ctrlKey: true, bubbles: true, cancelable: true }),
    ),
  );
  await page.getByText(`${last - 3} of ${last}`).waitFor();
  await open(`/runs/${runId}?at=1`);
  await page.getByText(`1 of ${last}`).waitFor();
  await page.locator('.run-title').getByText('Running').waitFor();
  expect(await page.getByText('acme.web:search').count()).toBe(0);
  await page.keyboard.press('f');
  await page.getByRole('combobox', { name: /tool:acme\.lab:weigh/ }).selectOption('live');
  await page.getByRole('textbox', { name: /Inputs/ }).fill('{"topic": "boats"}');
  await page.getByRole('button', { name: 'Fork from event 2' }).click();
  await page.waitForURL((url) => !url.pathname.includes(runId));
  const fork = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(await client().runs.get(fork)).toMatchObject({
    fork: { sourceRunId: runId, fromSeq: 2, mode: 'branch' },
    inputs: { topic: 'boats' },
  });
  const forked = (await client().events.all(fork)).find(({ type }) => type === 'cairn.run.forked');
  expect(forked?.payload).toMatchObject({
    rules: expect.arrayContaining([
      { calls: 'tool:acme.lab:weigh', use: 'live' },
      { calls: 'tool:acme.web:search', use: 'reuse' },
    ]),
  });
  await open(`/compare/${runId}/${fork}`);
  await page.getByRole('region', { name: 'First divergence' }).getByText('boats').waitFor();
});

test('a script in a tool result, a link or a picture never runs', async () => {
  const runId = await waitingReport('bridges');
  await open(`/runs/${runId}`);
  await page.getByText('waits for an answer').waitFor();
  await page.locator('.conversation').evaluate((list) => list.scrollTo(0, 0));
  await page
    .locator('.talk[data-kind="tool"]', { hasText: 'acme.web:search' })
    .getByText('Result', { exact: false })
    .first()
    .click();
  await page.getByText('onerror=', { exact: false }).first().waitFor();
  for (const tab of ['Log', 'Causes', 'Timeline', 'Workflow']) await page.getByRole('tab', { name: tab }).click();
  expect(
    await page.evaluate(() => ({
      ran: 'wasAttacked' in globalThis,
      scripts: document.querySelectorAll('.run script, .run img, a[href^="javascript"]').length,
    })),
  ).toEqual({ ran: false, scripts: 0 });
});

test('goes on where it was after the host restarts', async () => {
  const runId = await waitingReport('tunnels');
  await open(`/runs/${runId}`);
  await page.getByText('waits for an answer').waitFor();
  const port = Number(new URL(host.url ?? '').port);
  const before = problems.length;
  await host.close();
  host = await start(port);
  await client().runs.answer(runId, 'sign', { action: 'accept' });
  await page.getByText('Run completed').waitFor();
  await page.locator('.run-title').getByText('Completed').waitFor();
  // While the host was away, the browser itself reports refused connections.
  expect(problems.slice(before).filter((problem) => !problem.includes('ERR_'))).toEqual([]);
  problems.length = before;
});

test('no page reported an error', () => {
  expect(problems).toEqual([]);
});
