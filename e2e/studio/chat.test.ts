/** Chat in a real browser: talk, answer, stop, retry, edit, reload, reconnect; and nothing that an agent says ever runs. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { launchBrowser } from '../browser/chromium.ts';
import { axeTests } from './axe.ts';
import { attacks, chatApp, goOn } from './chat-app.ts';
import { KEY, newPageContext, openStage, type Stage, signedIn } from './stage.ts';

let stage: Stage;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage(0, { app: chatApp }), launchBrowser()]);
  context = await newPageContext(browser);
  page = await signedIn(stage, context);
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

const say = async (text: string) => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};
const turns = () => page.getByRole('article', { name: 'Turn' });
const told = (text: string) => page.locator('.said[data-role="agent"]', { hasText: text });

test('an agent is chosen, asks with a form in the conversation, and its file fills beside it', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:planner')}`);
  await say('Plan a trip to the coast.');
  await page.waitForURL('**/chat/ctx_*');
  await page.getByText('A trip. I have to know the dates first.').first().waitFor();
  await told('I look for a').locator('strong', { hasText: 'good route' }).waitFor();
  const question = page.getByRole('region', { name: 'Question' });
  await question.getByText('How shall the trip to the coast be?').waitFor();
  await question.getByLabel('Travellers').fill('3');
  await question.getByLabel('Start').selectOption('Friday');
  await question.getByRole('button', { name: 'Send the answer' }).click();
  const pane = page.getByRole('complementary', { name: 'Artifacts' });
  await pane.getByText('3 travellers, from Friday on.').waitFor();
  await pane.getByText('Being written').waitFor();
  const tool = page.getByRole('region', { name: 'Tool test:trip' });
  await tool.getByRole('progressbar').waitFor();
  await tool.getByText('stage 1 of 2').waitFor();
  await question.getByText('answered by ada').waitFor();
  await question.getByText('travellers: 3, start: Friday').waitFor();
  await goOn();
  await told('Your plan is ready.').waitFor();
  await pane.getByRole('button', { name: 'plan.md' }).click();
  await pane.getByText('Version 1').waitFor();
  expect(await pane.locator('li', { hasText: 'river' }).locator('strong').textContent()).toBe('river');
  expect(await pane.locator('img').count()).toBe(0);
  await pane.getByRole('button', { name: 'stages' }).click();
  await pane.getByRole('cell', { name: 'Over the ridge' }).waitFor();
});

test('a reload shows the same conversation, and the list leads back to it', async () => {
  // The task has ended, with the line that ends its turn.
  await page.getByText('Your turn').waitFor();
  const before = await turns().allTextContents();
  await page.reload();
  await page.getByText('Your turn').waitFor();
  await expect.poll(() => turns().allTextContents()).toEqual(before);
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.waitForURL('**/chat');
  await page.locator('.chat-entry', { hasText: 'Plan a trip' }).click();
  await told('Your plan is ready.').waitFor();
});

test('a message is tried again, and edited into a new conversation that shares what came before', async () => {
  await page.getByLabel('Agent that answers').selectOption('host:echo');
  await say('Say tea.');
  await told('You said: Say tea.').waitFor();
  await turns().last().getByRole('button', { name: 'Retry' }).click();
  await expect.poll(() => told('You said: Say tea.').count()).toBe(2);
  const address = page.url();
  await turns().last().getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Changed message').fill('Say coffee.');
  await page.getByRole('button', { name: 'Fork from here' }).click();
  await page.waitForURL((url) => url.href !== address && url.pathname.startsWith('/chat/ctx_'));
  await told('You said: Say coffee.').waitFor();
  await expect.poll(() => told('Your plan is ready.').count()).toBe(1);
  await expect.poll(() => turns().count()).toBe(3);
  await page.goto(address);
  await expect.poll(() => turns().count()).toBe(3);
  expect(await told('coffee').count()).toBe(0);
});

test('an agent whose task has a schema hears a plain message', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:critic')}`);
  await say('the new bridge');
  await told('I heard of the new bridge').waitFor();
});

test('a task is stopped by its key', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:sleeper')}`);
  await say('Wait for me.');
  await page.getByRole('region', { name: 'Tool test:wait' }).getByText('running').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('s');
  await turns().last().getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
});

test('a sign-in with a key is encrypted in the page', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:bookkeeper')}`);
  await say('Read my ledger.');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  await page.getByLabel('Key of ledger').fill('a-key-that-nobody-else-reads');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await told('Your balance is 2800.').waitFor();
  await expect.poll(() => sent.join()).toContain('credential');
  expect(sent.join()).not.toContain('a-key-that-nobody-else-reads');
});

test('a sign-in is answered in the inbox too, and a refusal lets the task go on', async () => {
  await forgetCredentials();
  const answerInInbox = async (answer: () => Promise<void>) => {
    await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:bookkeeper')}`);
    await say('Read my ledger.');
    await page.getByLabel('Key of ledger').waitFor();
    await page.waitForURL('**/chat/ctx_*');
    const talk = page.url();
    await page.goto(`${stage.url}/inbox`);
    await page.locator('.entry', { hasText: 'ledger' }).click();
    await answer();
    await page.getByLabel('Key of ledger').waitFor({ state: 'detached' });
    await page.goto(talk);
  };
  await answerInInbox(() => page.getByRole('button', { name: 'Refuse' }).click());
  await told('Your balance is').waitFor();
  await answerInInbox(async () => {
    await page.getByLabel('Key of ledger').fill('a-key-that-nobody-else-reads');
    await page.getByRole('button', { name: 'Sign in' }).click();
  });
  await told('Your balance is 2800.').waitFor();
});

/** The host asks nobody while it has a credential. */
async function forgetCredentials(): Promise<void> {
  const address = `${stage.url}/v1/host/cairn/credentials`;
  const headers = { authorization: `Bearer ${KEY}` };
  const listed = z.object({ credentials: z.array(z.object({ credentialRef: z.string() })) });
  const { credentials } = listed.parse(await (await fetch(address, { headers })).json());
  for (const { credentialRef } of credentials)
    await fetch(`${address}/${credentialRef}`, { method: 'DELETE', headers });
}

test('what an agent says stays text', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:prankster')}`);
  await say('<img src=x onerror="window.hacked=1">');
  await told('press me').waitFor();
  await page.locator('.folded summary').first().click();
  for (const attack of attacks) await expect.poll(() => page.locator('.talk-scroll').textContent()).toContain(attack);
  expect(
    await page.locator('.talk-scroll :is(script, img, iframe, a[href^="javascript"], a[href^="data"])').count(),
  ).toBe(0);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('a message that cannot be sent says why; what was missed while offline appears', async () => {
  await page.goto(`${stage.url}/chat?agent=${encodeURIComponent('host:echo')}`);
  await page.route('**/api/messages*', (route) => route.abort());
  await say('Is anybody there?');
  await page.getByRole('button', { name: 'Send again' }).waitFor();
  await page.unroute('**/api/messages*');
  await page.getByRole('button', { name: 'Send again' }).click();
  await told('You said: Is anybody there?').waitFor();
  await page.waitForURL('**/chat/ctx_*');
  const contextId = page.url().split('/').at(-1);
  await context.setOffline(true);
  await page.locator('.pill', { hasText: 'Offline' }).waitFor();
  const { taskId } = await stage.client.context(contextId).send('From elsewhere.');
  await stage.client.runs.wait(taskId);
  await context.setOffline(false);
  await told('You said: From elsewhere.').waitFor();
});

/** A conversation after one message, as it rests or asks. */
const after = (agentId: string) => async () => {
  const talk = stage.client.context();
  const { taskId } = await talk.send('Hello?', { agentId });
  await stage.client.runs.wait(taskId);
  return `/chat/${talk.id}`;
};

axeTests(
  () => ({ browser, stage }),
  [
    { name: 'a new chat', path: () => '/chat', ready: '.agent-choice strong' },
    { name: 'a question', path: after('host:planner'), ready: '.chat-question form' },
    { name: 'an answer', path: after('host:prankster'), ready: '.said[data-role="agent"] p' },
    { name: 'an unknown conversation', path: () => '/chat/ctx_unknown', ready: '.problem' },
  ],
);

test('no rule of the policy was broken', () => {
  expect(complaints.filter((text) => !text.includes('ERR_') && !text.includes('Failed to load resource'))).toEqual([]);
});
