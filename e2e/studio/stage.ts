/** A host with Studio and something to see in it, and a browser that is signed in. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { DEMO_AGENT, demoPacks } from '../../packages/host/src/cli/demo-packs.ts';
import { demoWorkflows } from '../../packages/host/src/cli/demo-workflows.ts';
import type { App } from '../../packages/host/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { scopes } from '../../packages/host/src/server/access/auth.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import { buildStaleStudio } from '../../packages/studio/build/build-studio.ts';
import { questions, stumbles } from './workflows.ts';

export const KEY = 'a-key-for-tests-of-studio-0001';

export interface Stage {
  readonly url: string;
  readonly store: Store;
  readonly host: Host;
  readonly client: ReturnType<typeof createClient>;
  close(): Promise<void>;
}

/** What a test adds to the host. */
export interface StageMore {
  readonly app?: Pick<App, 'agents' | 'tools'>;
  /** Other hosts, by their ids. */
  readonly peers?: readonly { readonly hostId: string; readonly url: string }[];
  readonly hostId?: string;
}

/** A host without runs. */
export async function openStage(port = 0, { app, peers = [], hostId }: StageMore = {}): Promise<Stage> {
  await buildStaleStudio();
  // Sessions survive a restart of a host that keeps its key.
  const keyFile = join(mkdtempSync(join(tmpdir(), 'cairn-studio-')), 'master.key');
  writeFileSync(keyFile, `${createHash('sha256').update(KEY).digest('hex')}\n`, { mode: 0o600 });
  const store = inMemoryStore();
  const host = await createHostOver(store, {
    report: () => undefined,
    allowUnsignedPacks: true,
    workflows: [...demoWorkflows, ...questions, stumbles],
    ...app,
    config: {
      port,
      ...(hostId !== undefined && { hostId }),
      peers: [...peers],
      signIns: { ledger: { kind: 'api-key' } },
      masterKey: { file: keyFile },
      defaultAgent: DEMO_AGENT,
      packs: { folders: [demoPacks] },
      keys: [
        { key: KEY, tenant: 'dev', principal: 'ada', scopes: [...scopes], toolScopes: ['tool:*'] },
        { key: `${KEY}-grace`, tenant: 'dev', principal: 'grace', scopes: [...scopes], toolScopes: ['tool:*'] },
      ],
    },
  });
  const url = host.url ?? '';
  const client = createClient({ url, key: KEY });
  const close = async () => {
    await host.close();
    rmSync(dirname(keyFile), { recursive: true, force: true });
  };
  return { url, store, host, client, close };
}

/** Runs of every status, and questions of several kinds. Returns the run of three agents. */
export async function play({ client, url }: Stage): Promise<string> {
  const run = (workflowId: string, inputs: Record<string, string> = {}, tags: readonly string[] = []) =>
    client.runs.create({ workflowId, inputs, tags });
  for (let i = 0; i < 24; i += 1) await run('hello', { name: `Visitor ${i + 1}` }, ['nightly']);
  await run('stumbles', { title: 'Divide what was collected by the number of guests' });
  const crew = await run('research-crew', { topic: 'Tidal power in the Bay of Fundy' });
  await client.runs.wait(crew.runId);
  const cancelled = await run('review');
  await client.runs.wait(cancelled.runId);
  await client.runs.cancel(cancelled.runId);
  const asked = [await run('release-vote'), await run('trip'), await run('review', { title: 'The quarterly letter' })];
  for (const { runId } of asked) await client.runs.wait(runId);
  const [vote] = asked;
  const grace = createClient({ url, key: `${KEY}-grace` });
  if (vote !== undefined)
    await grace.runs.answer(vote.runId, 'vote', { action: 'accept', feedback: 'The figures are right.' });
  return crew.runId;
}

/** Opens Studio by a one-time link, as somebody does who pressed it in a terminal. */
export async function signedIn(stage: Stage, context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const { url } = await stage.client.session.createLink();
  await page.goto(url);
  await page.waitForURL('**/runs');
  return page;
}

/** Rows of the run list that hold a run. While the list is read, bones are in their places. */
export const runRows = (page: Page): Locator => page.locator('.run-row:has(a)');

export const newPageContext = (browser: Browser, width = 1280): Promise<BrowserContext> =>
  browser.newContext({ locale: 'en-US', viewport: { width, height: 800 }, timezoneId: 'UTC' });
