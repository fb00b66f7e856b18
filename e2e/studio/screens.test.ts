/** Agents, artifacts, hosts and system in a real browser: what they show, by hand and by key. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../browser/chromium.ts';
import { axeTests } from './axe.ts';
import { chatApp } from './chat-app.ts';
import { talk } from './screen-scenes.ts';
import { newPageContext, openStage, type Stage, signedIn } from './stage.ts';

const BETA = 'hosts.example.org/beta';
const TRIAGE = 'community.cairn.support-triage.triage';

let stage: Stage;
let beta: Stage;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let places: Readonly<Record<string, string>>;
const complaints: string[] = [];

beforeAll(async () => {
  [beta, browser] = await Promise.all([openStage(0, { hostId: BETA }), launchBrowser()]);
  stage = await openStage(0, { app: chatApp, peers: [{ hostId: BETA, url: beta.url }] });
  places = await talk(stage);
  context = await newPageContext(browser);
  page = await signedIn(stage, context);
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
});
afterAll(async () => {
  await browser.close();
  await Promise.all([stage.close(), beta.close()]);
});

test('an agent shows its pack, its tools, its threshold and how far its confidence can be trusted', async () => {
  await page.goto(`${stage.url}/agents/${TRIAGE}`);
  const agent = page.getByRole('article');
  await agent.getByText('openwop:decide').waitFor();
  const text = await agent.textContent();
  for (const part of ['Support triage', 'community.cairn.support-triage', '1.0.0', 'unsigned', '75 % sure'])
    expect(text).toContain(part);
  await agent.getByRole('img', { name: /Stated confidence/ }).waitFor();
  expect(await agent.getByRole('row', { name: /^50 to 60 % sure/ }).textContent()).toContain('67 %');
  await page.keyboard.press('c');
  await page.waitForURL('**/chat?agent=*');
  await page.getByRole('button', { name: 'Support triage', pressed: true }).waitFor();
});

test('agents are walked through by key', async () => {
  await page.goto(`${stage.url}/agents`);
  await page.locator('.agent-entry[aria-current]').waitFor();
  await page.keyboard.press('j');
  await page.waitForURL('**/agents/community.*');
  const second = await page.locator('.agent-entry').nth(1).getAttribute('href');
  expect(new URL(page.url()).pathname).toBe(second);
});

test('an artifact shows its versions and what changed between two of them', async () => {
  await page.goto(`${stage.url}/artifacts`);
  await page.locator('.artifact-row', { hasText: 'plan.md' }).first().waitFor();
  expect(await page.locator('.artifact-row', { hasText: 'stages' }).first().textContent()).toContain('version 1');
  await page.goto(`${stage.url}/artifacts/${places.done}/plan.md`);
  await page.getByText('4 travellers, from Friday on.').waitFor();
  await page.keyboard.press('[');
  await page.getByText('3 travellers, from Friday on.').waitFor();
  expect(await page.locator('.artifact-body img').count()).toBe(0);
  await page.keyboard.press(']');
  await page.keyboard.press('d');
  await page.waitForURL('**/plan.md?version=2&against=1');
  const hunk = page.locator('.hunks');
  await hunk.locator('[data-op="removed"]', { hasText: '3 travellers' }).waitFor();
  await hunk.locator('[data-op="added"]', { hasText: '4 travellers' }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('plan.md');
});

test('an artifact that does not exist says so', async () => {
  await page.goto(`${stage.url}/artifacts/${places.done}/nothing`);
  expect(await page.getByRole('alert').textContent()).toContain('not_found');
});

test('a peer is checked, without a key and with one', async () => {
  await page.goto(`${stage.url}/hosts`);
  await page.getByRole('button', { name: 'Check' }).click();
  const findings = page.getByRole('list', { name: 'Findings' });
  await findings.getByText('recorded, with ancestry').waitFor();
  expect(await findings.textContent()).toContain('there is no key');
  await page.getByLabel('Your key there').fill('a-key-for-tests-of-studio-0001');
  await page.getByLabel('Workflow there').fill('hello');
  await page.getByRole('button', { name: 'Check' }).click();
  await findings.getByText('came back').waitFor();
  expect(await findings.textContent()).toMatch(/trace of runs.*recorded/);
  // The key of the test belongs to no peer there, so the statement does not count.
  expect(await findings.textContent()).toContain('the peer ignored the statement');
});

test('the system shows its figures, what would be purged, and that its log is whole', async () => {
  await page.goto(`${stage.url}/system`);
  await page.getByText('in memory', { exact: true }).waitFor();
  await page.getByRole('img', { name: /^Event loop: half within/ }).waitFor();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('Nothing would go now.').waitFor();
  await page.getByRole('button', { name: 'Check all runs' }).click();
  await page.getByText(/^Whole: .* events of \d+ runs/).waitFor();
  const { runs } = await stage.client.runs.list({ limit: 1 });
  await page.getByLabel('Run to check').fill(runs[0]?.runId ?? '');
  await page.getByRole('button', { name: 'Check this run' }).click();
  await page.getByText(/^Whole: .* events of 1 run/).waitFor();
  await page.getByLabel('Run to check').fill('run_nobody');
  await page.getByRole('button', { name: 'Check this run' }).click();
  await page.getByRole('alert').getByText('not_found').waitFor();
  expect(await page.getByRole('row', { name: /^dev yours/ }).count()).toBe(1);
});

axeTests(
  () => ({ browser, stage }),
  [
    { name: 'an agent', path: () => `/agents/${TRIAGE}`, ready: '.calibration-table td' },
    { name: 'the artifacts', path: () => '/artifacts', ready: '.artifact-row .name' },
    { name: 'a diff', path: () => `/artifacts/${places.done}/plan.md?version=2&against=1`, ready: '.hunks' },
    { name: 'the hosts', path: () => '/hosts', ready: '.peer-form' },
    { name: 'the system', path: () => '/system', ready: '.shares tbody th' },
  ],
);

test('no rule of the policy was broken', () => {
  expect(complaints.filter((text) => !text.includes('ERR_') && !text.includes('Failed to load resource'))).toEqual([]);
});
