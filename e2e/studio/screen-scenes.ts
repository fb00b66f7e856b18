/** What the pictures of chat, agents, artifacts, hosts and system show. */
import type { Page } from 'playwright-core';
import { goOn } from './chat-app.ts';
import type { Stage } from './stage.ts';

export interface Scene {
  readonly name: string;
  readonly path: string;
  /** For wide screens alone. */
  readonly isWide?: true;
  /** The host without runs. */
  readonly isEmpty?: true;
  readonly before?: (page: Page) => Promise<unknown>;
  readonly act?: (page: Page) => Promise<unknown>;
}

/** Conversations in every state: at work, with a question, complete with artifacts, hostile. */
export async function talk({ client }: Stage): Promise<Readonly<Record<string, string>>> {
  const say = async (agentId: string, content: string, contextId?: string) => {
    const context = client.context(contextId);
    const { taskId } = await context.send(content, { agentId });
    return { taskId, context, contextId: context.id ?? '' };
  };
  const asking = await say('host:planner', 'Plan a trip to the coast.');
  await client.runs.wait(asking.taskId);
  const done = await say('host:planner', 'Plan a trip to the coast, for three.');
  const open = await client.runs.wait(done.taskId);
  await done.context.answer(open.interrupt?.interruptId ?? '', { travellers: 3, start: 'Friday' });
  await goOn();
  await client.runs.wait(done.taskId);
  await done.context.artifacts.save(
    'plan.md',
    '# A trip to the coast\n\n4 travellers, from Friday on.\n\n- Along the **river**\n',
    {
      version: 1,
    },
  );
  const thanks = await say('host:echo', 'Thank you. Say it once more.', done.contextId);
  await client.runs.wait(thanks.taskId);
  const ledger = await say('host:bookkeeper', 'Read my ledger.');
  await client.runs.wait(ledger.taskId);
  const hostile = await say('host:prankster', 'What do you have for me?');
  await client.runs.wait(hostile.taskId);
  const working = await say('host:sleeper', 'Wait for me, please.');
  for (const ticket of ['I was charged twice', 'The export fails', 'A refund, please']) {
    const { runId } = await client.runs.create({ workflowId: 'support-triage', inputs: { ticket } });
    const waiting = await client.runs.wait(runId);
    const [question] = await client.interrupts.ofRun(waiting.runId);
    if (question !== undefined)
      await client.runs.answer(runId, question.interruptId, { action: ticket.startsWith('A') ? 'reject' : 'approve' });
  }
  return {
    asking: asking.contextId,
    done: done.contextId,
    ledger: ledger.contextId,
    hostile: hostile.contextId,
    working: working.contextId,
  };
}

const never = (page: Page, path: string) => page.route(path, () => new Promise(() => undefined));
const failing = (page: Page, path: string, scope: string) =>
  page.route(path, (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({
        error: 'forbidden',
        message: `This credential lacks the scope ${scope}.`,
        details: { hint: `Use a key or token that holds ${scope}.` },
      }),
    }),
  );

export const screenScenes: readonly Scene[] = [
  { name: 'chat-new', path: '/chat' },
  { name: 'chat-new-empty', path: '/chat', isEmpty: true },
  { name: 'chat-new-loading', path: '/chat', before: (page) => never(page, '**/v1/agents') },
  { name: 'chat-question', path: '/chat/{asking}' },
  { name: 'chat-artifacts', path: '/chat/{done}' },
  {
    name: 'chat-pane',
    path: '/chat/{done}',
    act: async (page) => {
      const button = page.locator('.pane-button');
      if (await button.isVisible()) await button.click();
    },
  },
  { name: 'chat-edit', path: '/chat/{done}', act: (page) => page.getByRole('button', { name: 'Edit' }).last().click() },
  { name: 'chat-sign-in', path: '/chat/{ledger}' },
  { name: 'chat-hostile', path: '/chat/{hostile}' },
  { name: 'chat-working', path: '/chat/{working}' },
  { name: 'chat-unknown', path: '/chat/ctx_no_such_context' },
  { name: 'agents', path: '/agents' },
  { name: 'agent', path: '/agents/community.cairn.support-triage.triage' },
  {
    name: 'agent-calibration',
    path: '/agents/community.cairn.support-triage.triage',
    act: (page) => page.locator('#agent-calibration').evaluate((section) => section.scrollIntoView()),
  },
  { name: 'agent-unknown', path: '/agents/community.cairn.nobody' },
  { name: 'agents-loading', path: '/agents', before: (page) => never(page, '**/v1/agents') },
  { name: 'agents-error', path: '/agents', before: (page) => failing(page, '**/v1/agents', 'manifest:read') },
  { name: 'artifacts', path: '/artifacts', act: (page) => page.keyboard.press('j') },
  { name: 'artifacts-empty', path: '/artifacts', isEmpty: true },
  { name: 'artifacts-loading', path: '/artifacts', before: (page) => never(page, '**/cairn/artifacts*') },
  {
    name: 'artifacts-error',
    path: '/artifacts',
    before: (page) => failing(page, '**/cairn/artifacts*', 'runs:read'),
  },
  { name: 'artifact', path: '/artifacts/{done}/plan.md' },
  { name: 'artifact-diff', path: '/artifacts/{done}/plan.md?version=2&against=1' },
  { name: 'artifact-rows', path: '/artifacts/{done}/stages' },
  { name: 'artifact-unknown', path: '/artifacts/{done}/nothing' },
  {
    name: 'hosts',
    path: '/hosts',
    act: async (page) => {
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByRole('list', { name: 'Findings' }).waitFor();
    },
  },
  { name: 'hosts-empty', path: '/hosts', isEmpty: true },
  { name: 'hosts-loading', path: '/hosts', before: (page) => never(page, '**/cairn/peers') },
  { name: 'system', path: '/system' },
  {
    name: 'system-checked',
    path: '/system',
    act: async (page) => {
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByRole('button', { name: 'Check all runs' }).click();
      await page.getByText(/^Whole/).waitFor();
      await page.locator('#chain').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'system-end',
    path: '/system',
    act: (page) => page.locator('.system').evaluate((element) => element.scrollTo(0, element.scrollHeight)),
  },
  { name: 'system-loading', path: '/system', before: (page) => never(page, '**/metrics') },
  { name: 'system-error', path: '/system', before: (page) => failing(page, '**/metrics', 'metrics:read') },
];
