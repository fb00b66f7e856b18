/** The chat example in a real browser, with its own demo host. One test runs it as a newcomer does, the others a built page. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type DemoHost, startDemoHost } from '../../examples/chat/demo/host.ts';
import { page as chat, passedOn, serve } from '../../examples/chat/serve.ts';
import { defineAgent, defineTool, z } from '../../packages/host/src/index.ts';
import { portOf } from '../../packages/host/test/kit/port-of.ts';
import { type BuiltPage, serveBuilt } from './built-page.ts';
import { launchBrowser } from './chromium.ts';
import { bundleClient } from './client-bundle.ts';
import { type PausedModel, pausedModel } from './paused-model.ts';

type Browser = Awaited<ReturnType<typeof launchBrowser>>;

let browser: Browser;
let model: PausedModel;
let demo: DemoHost;
let served: BuiltPage & { readonly url: string };
let context: BrowserContext;
let page: Page;
let main: Locator;

/** Calls of the tool that wait for the test, oldest first. */
const held: (() => void)[] = [];
const words = (from: number, count: number) => Array.from({ length: count }, (_, i) => `w${from + i} `);
const PARTS = [words(0, 5_000), words(5_000, 300), words(5_300, 300)] as const;

const hold = defineTool({
  id: 'test:hold',
  description: 'Waits for the test.',
  input: z.object({ n: z.int() }),
  safety: 'read',
  run: () => new Promise<string>((resolve) => held.push(() => resolve('go on'))),
});

/** Says 5,000 words, and more whenever the test lets it. */
const novelist = defineAgent({
  id: 'host:novelist',
  persona: 'Novelist',
  instructions: 'Write.',
  tools: [hold],
  rehearsal: {
    turns: [
      [{ say: PARTS[0] }, { call: { tool: 'test:hold', input: { n: 1 } } }],
      [{ say: PARTS[1] }, { call: { tool: 'test:hold', input: { n: 2 } } }],
      [{ say: PARTS[2] }],
    ],
  },
});

const passages = [words(5_000, 1_000), words(6_000, 300), words(6_300, 300)] as const;
const upTo = (count: number) => passages.slice(0, count).flat().join('');

/** Says 5,000 words, an event each. */
const scribe = defineAgent({
  id: 'host:scribe',
  persona: 'Scribe',
  instructions: 'Write.',
  rehearsal: { turns: [[{ say: PARTS[0] }]] },
});

/** Its model stops twice within its only text. */
const poet = defineAgent({ id: 'host:poet', persona: 'Poet', instructions: 'Write.', modelClass: 'reasoning' });

beforeAll(async () => {
  const port = await freePort();
  model = await pausedModel(passages);
  // The first launch unpacks the browser, with another folder for temporary files meanwhile.
  browser = await launchBrowser();
  const url = `http://127.0.0.1:${port}`;
  demo = await startDemoHost(url, { agents: [novelist, scribe, poet], tools: [hold], models: model.models });
  served = { url, ...(await serveBuilt(chat, passedOn({ port, url: demo.url, key: demo.key }))) };
});

afterAll(async () => {
  await browser.close();
  await served.close();
  await demo.close();
  await model[Symbol.asyncDispose]();
});

beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-US', viewport: { width: 400, height: 800 } });
  onTestFinished(() => context.close());
  page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  onTestFinished(() => expect(problems).toEqual([]));
  main = page.getByRole('main');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What agents said, block by block, without the words for screen readers. */
const saidByAgents = (): Promise<readonly string[]> =>
  main
    .locator('.message.agent p')
    .evaluateAll((all) => all.map((one) => (one.textContent ?? '').replace('Agent: ', '')));

const ask = (name: string) => page.getByRole('button', { name }).click();
const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

test('a plain message is answered, and the address of the page brings the conversation back', async () => {
  const own = await serve({ port: await freePort(), url: demo.url, key: demo.key });
  onTestFinished(() => own.close());
  await page.goto(own.url);
  await page.getByLabel('Your message').fill('Is anybody there?');
  await page.keyboard.press('Enter');
  await main.getByText('what agents can do here').waitFor();
  expect(await page.getByLabel('Your message').inputValue()).toBe('');
  expect(await page.getByRole('status').textContent()).toContain('You wrote: “Is anybody there?”');
  await page.reload();
  await main.getByText('what agents can do here').waitFor();
  expect(await saidByAgents()).toHaveLength(1);
  expect(await main.locator('.message.user').allTextContents()).toEqual(['You: Is anybody there?']);
});

test('a form made from its schema is answered, and a file fills while the progress bar moves', async () => {
  await page.goto(served.url);
  await ask('Plan a trip to the coast');
  const form = main.getByRole('region', { name: 'Question' }).first();
  await form.getByRole('button', { name: 'Send answer' }).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('Question: How shall the trip to the coast be?');
  // The browser keeps an incomplete answer from being sent.
  await form.getByRole('button', { name: 'Send answer' }).click();
  expect(await form.getByLabel('Start').evaluate((field: HTMLSelectElement) => field.validity.valid)).toBe(false);
  await form.getByLabel('Travellers').fill('3');
  await form.getByLabel('Start').selectOption('Friday');
  await form.getByLabel('Vegetarian').check();
  await form.getByLabel('Stops').fill('Lighthouse\nHarbour');
  await form.getByLabel('Amount').fill('250.5');
  await form.getByLabel('Currency').selectOption('CHF');
  await form.getByRole('button', { name: 'Send answer' }).click();
  await main.getByText('Shall I plan it for 3, from Friday on?').waitFor();
  await ask('Yes');
  const plan = main.getByRole('region', { name: 'plan.md' });
  await plan.getByText('Being written…').waitFor();
  await main.getByRole('progressbar').waitFor();
  await plan.getByText('Version 1').waitFor();
  expect(await plan.locator('pre').textContent()).toMatch(/3 travellers[\s\S]*Day 4[\s\S]*Lighthouse, Harbour/);
  await main.getByRole('cell', { name: 'Along the cliffs to the lighthouse' }).waitFor();
  await main.getByText('Your plan is ready.').waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    plan.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('plan.md');

  await ask('Edit');
  await main.getByLabel('Your text').fill('My own plan.');
  await putElsewhere('plan.md', 'Another plan.');
  await main.getByText('Another plan.').waitFor();
  await ask('Save');
  await main.getByRole('alert').getByText('Somebody else wrote version 2').waitFor();
  await ask('Save');
  await main.getByLabel('Your text').waitFor({ state: 'detached' });
  await plan.getByText('Version 3').waitFor();
  expect(await plan.locator('pre').textContent()).toBe('My own plan.');
  expect(await isWide()).toBe(false);
});

test('a sign-in at an OAuth server and one with a key complete, and a refusal lets the task go on', async () => {
  await page.goto(served.url);
  await ask('Who am I at the forge?');
  const [popup] = await Promise.all([page.waitForEvent('popup'), ask('Sign in to forge')]);
  await popup.getByRole('link', { name: 'Allow' }).click();
  await popup.getByText('You are signed in to forge.').waitFor();
  await main.getByText('At the forge you are ada.').waitFor();

  await ask('Read my ledger');
  await main.getByRole('button', { name: 'Not now' }).click();
  await main.getByText('Your balance is').waitFor();
  await ask('Read my ledger');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  await main.getByLabel('Your key').fill('a-key-that-nobody-else-reads');
  await ask('Send key');
  await main.getByText('Your balance is 2800 EUR.').waitFor();
  expect(sent.join()).toContain('credential');
  expect(sent.join()).not.toContain('a-key-that-nobody-else-reads');
});

test('the work of a crew is nested below the task that asked for it, and a stop ends all of it', async () => {
  await page.goto(served.url);
  await ask('Send out the crew');
  const scout = main.locator('article article');
  await scout.getByText('I walk the northern path.').waitFor();
  await ask('Stop');
  await main.getByText('Stopped.').last().waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await ask('Send out the crew');
  await main.getByText('We take the northern path.').waitFor();
  await scout.getByText('The northern path is dry and open.').waitFor();
  await scout.getByRole('region', { name: 'ground' }).waitFor();
});

test('the page executes a tool, also after a reload, and a long call is canceled on its card', async () => {
  await page.goto(served.url);
  await ask('Paint the hut');
  await main.getByText('Please pick a color.').waitFor();
  await page.reload();
  await main.getByLabel('Color', { exact: true }).fill('#336699');
  await main.getByRole('button', { name: 'Take it' }).click();
  const picked = main.getByRole('region', { name: 'Tool client:pick_color' });
  await picked.getByText('Done').waitFor();
  expect(await picked.locator('pre').last().textContent()).toContain('#336699');
  await main.getByRole('button', { name: 'Cancel demo:dry' }).click();
  const drying = main.getByRole('region', { name: 'Tool demo:dry' });
  await drying.getByText('canceled').waitFor();
  await main.getByText('The hut has its new color.').waitFor();
  expect(await main.getByRole('button', { name: /^Cancel/ }).count()).toBe(0);
});

/** Somebody else saves a file of the conversation. */
async function putElsewhere(artifactId: string, text: string): Promise<void> {
  const contextId = new URL(page.url()).hash.slice(1);
  const saved = await createClient(demo)
    .context(contextId)
    .artifacts.update(artifactId, () => text);
  expect(saved.version).toBe(2);
}

/** The number of events of the conversation on the page. */
async function eventsOf(): Promise<number> {
  const contextId = new URL(page.url()).hash.slice(1);
  const headers = { authorization: `Bearer ${demo.key}` };
  const response = await fetch(`${demo.url}/api/contexts/${contextId}/tasks`, { headers });
  const { head } = z.object({ head: z.number() }).parse(await response.json());
  return head;
}

/** Asks an agent for a text, in a conversation of its own or in that of `contextId`. Returns the conversation. */
async function askForText(agentId: string, contextId?: string): Promise<string> {
  const response = await fetch(`${demo.url}/api/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.key}`, 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify({ message: { role: 'user', content: 'Write a novel.' }, agentId, contextId }),
  });
  return z.object({ contextId: z.string() }).parse(await response.json()).contextId;
}

test('a reload in the middle of a text, after 5,000 events, shows every piece once', { timeout: 90_000 }, async () => {
  const contextId = await askForText('host:scribe');
  await page.goto(`${served.url}/#${contextId}`);
  await main.getByText('w4999').waitFor();
  await askForText('host:poet', contextId);
  await main.getByText('w5999').waitFor();
  expect(await eventsOf()).toBeGreaterThan(5_000);

  await page.reload();
  await main.getByText('w5999').waitFor();
  expect(await saidByAgents()).toEqual([PARTS[0].join(''), upTo(1)]);
  model.goOn();
  await main.getByText('w6299').waitFor();
  expect(await saidByAgents()).toEqual([PARTS[0].join(''), upTo(2)]);
  model.goOn();
  await main.getByText('w6599').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  expect(await saidByAgents()).toEqual([PARTS[0].join(''), upTo(3)]);
  expect(await main.locator('.message.user').count()).toBe(2);
});

test('a reload after 5,000 events, and a time offline, show everything once', { timeout: 90_000 }, async () => {
  await page.goto(`${served.url}/#${await askForText('host:novelist')}`);
  await main.getByText('w4999').waitFor();
  await main.getByRole('region', { name: 'Tool test:hold' }).waitFor();
  expect(await eventsOf()).toBeGreaterThan(5_000);

  await page.reload();
  await main.getByText('w4999').waitFor();
  expect(await saidByAgents()).toEqual([PARTS[0].join('')]);
  held.shift()?.();
  await main.getByText('w5299').waitFor();

  await context.setOffline(true);
  await page.getByText('Connection lost.', { exact: false }).first().waitFor();
  held.shift()?.();
  await context.setOffline(false);
  await main.getByText('w5599').waitFor();
  await page.getByText('Connected').waitFor();
  expect(await saidByAgents()).toEqual(PARTS.map((part) => part.join('')));
  expect(await main.locator('.message.user').count()).toBe(1);
  expect(await main.locator('.tool').count()).toBe(2);
});

const repository = join(import.meta.dirname, '../..');

/** The code of the guide, as its reader writes it. */
async function bundledGuide(): Promise<string> {
  const guide = readFileSync(join(repository, 'docs/guides/chat-front-end.md'), 'utf8');
  const blocks = [...guide.matchAll(/```tsx chat\.tsx\n([\s\S]*?)```/g)].map(([, code]) => code);
  const folder = mkdtempSync(join(tmpdir(), 'cairn-chat-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'chat.tsx'), blocks.join('\n'));
  return bundleClient(join(folder, 'chat.tsx'), 'development');
}

test('the page that the guide builds answers, asks, and shows the file', async () => {
  const script = (await bundledGuide()).replaceAll('</script', '<\\/script');
  const body = `<!doctype html><body><script type="module">${script}</script>`;
  await page.route('**/guide', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
  // The page names no agent, so that the default one would answer.
  await page.route('**/api/messages', (route) =>
    route.continue({ postData: { ...route.request().postDataJSON(), agentId: 'host:planner' } }),
  );
  await page.goto(`${served.url}/guide`);
  await page.getByLabel('Your message').fill('Plan a trip.');
  await page.getByRole('button', { name: 'Send' }).click();
  await main.getByText('Please tell me a little more').waitFor();
  const budget = { amount: 1, currency: 'EUR' };
  const answer = { travellers: 1, start: 'Monday', vegetarian: false, stops: [], budget };
  await main.getByLabel('How shall the trip').fill('{}');
  await ask('Answer');
  await main.getByRole('alert').getByText(/./).waitFor();
  await main.getByLabel('How shall the trip').fill(JSON.stringify(answer));
  await ask('Answer');
  await main.getByLabel('Shall I plan it').fill('true');
  await ask('Answer');
  await main.getByText('Your plan is ready.').waitFor();
  expect(await main.locator('figure', { hasText: 'plan.md' }).locator('pre').textContent()).toContain('Day 4');
});
