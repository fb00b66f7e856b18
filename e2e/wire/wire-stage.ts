/** The host for the rows, and the code that plays them. */
import { parseRunId, parseWorkflowDefinition } from '@cairn/protocol';
import { defineAgent, type Host } from '../../packages/host/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { trust } from './pack-rows.ts';
import { type Ask, definition, type Names, type Stage, type Who } from './wire-row.ts';

const key = (who: string) => `wire-table-key-of-${who}`;

const config = {
  port: 0,
  hostId: 'wire-host',
  keys: [
    { key: key('ann'), tenant: 'acme', principal: 'ann' },
    { key: key('bob'), tenant: 'acme', principal: 'bob' },
    { key: key('zoe'), tenant: 'globex', principal: 'zoe' },
    { key: key('operator'), tenant: 'acme', scopes: ['metrics:read' as const] },
    { key: key('auditor'), tenant: 'acme', scopes: ['runs:read' as const, 'audit:read' as const] },
    { key: key('reader'), tenant: 'acme', scopes: ['runs:read' as const] },
    { key: key('creator'), tenant: 'acme', scopes: ['runs:create' as const] },
    { key: key('starter'), tenant: 'acme', scopes: ['runs:create' as const, 'runs:read' as const] },
    { key: key('keeper'), tenant: 'acme', scopes: ['runs:read' as const, 'runs:delete' as const] },
  ],
  limits: { maxRequestBodyBytes: 700_000 },
  // Nobody listens there.
  peers: [{ hostId: 'beta', url: 'http://127.0.0.1:9' }],
  packs: { trust },
  egress: { allow: ['http://127.0.0.1:9'] },
  tools: { tenants: { globex: ['openwop:ask'] } },
};

/** Answers every message of the task view. */
const agent = defineAgent({
  id: 'host:wire',
  persona: 'Wire',
  instructions: 'Answer.',
  rehearsal: { turns: [[{ say: 'Hello.' }]] },
});

const workflows = {
  done: definition('done', 'core.noop', {}),
  asks: definition('asks', 'core.approvalGate', { title: 'Go on?' }),
  expires: definition('expires', 'core.approvalGate', { title: 'Quick?', timeoutMs: 1 }),
  sleeps: definition('sleeps', 'core.delay', { delayMs: 3_600_000 }),
  'parent-of-asks': definition('parent-of-asks', 'core.subWorkflow', { workflowId: 'asks' }),
  'parent-of-detached': definition('parent-of-detached', 'core.subWorkflow', {
    workflowId: 'asks',
    propagateCancellation: false,
  }),
  'parent-of-expires': definition('parent-of-expires', 'core.subWorkflow', { workflowId: 'expires' }),
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class WireStage implements Stage, AsyncDisposable {
  readonly #host: Host;
  readonly #store: Store;

  private constructor(host: Host, store: Store) {
    this.#host = host;
    this.#store = store;
  }

  static async open(): Promise<WireStage> {
    const store = inMemoryStore();
    const host = await createHostOver(store, { config, agents: [agent], report: () => undefined });
    for (const body of Object.values(workflows)) await host.engine.register('acme', parseWorkflowDefinition(body));
    return new WireStage(host, store);
  }

  /** Sends the request of a row, with its prepared values filled in. */
  async send({ to, as = 'ann', body, raw, headers }: Ask, names: Names = {}): Promise<Reply> {
    const [method = '', path = ''] = filled(to, names).split(' ');
    const content = raw ?? (body === undefined ? undefined : filled(JSON.stringify(body), names));
    const response = await fetch(`${this.#host.url}${path}`, {
      method,
      headers: {
        ...credential(as),
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async told(ask: Ask): Promise<Readonly<Record<string, unknown>>> {
    const { status, text } = await this.send(ask);
    if (status >= 300) throw new Error(`${ask.to} was answered ${status}: ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  }

  async run(workflowId: keyof typeof workflows, status: string): Promise<string> {
    const { runId } = await this.told({ to: 'POST /v1/runs', body: { workflowId } });
    await this.reaches(String(runId), status);
    return String(runId);
  }

  async imported(): Promise<string> {
    await using other = await WireStage.open();
    const runId = parseRunId(await other.run('asks', 'waiting-approval'));
    const head = runId === null ? null : await other.#store.log.head(runId);
    if (runId === null || head === null) throw new Error('the other host lost its run');
    const { tenant, contextId, originRunId } = head.record;
    const { seq, hash } = head;
    const rows = await other.#store.log.read({ runId, after: -1, limit: 1_000 });
    const given = rows.map(({ nodeId, cause, ...row }) => ({
      ...row,
      nodeId: nodeId ?? undefined,
      cause: cause ?? undefined,
    }));
    await this.#store.log.importRun({ runId, tenant, contextId, originRunId, importedAt: 1, seq, hash }, given);
    return runId;
  }

  async child(workflow: 'asks' | 'detached' | 'expires' = 'asks'): Promise<string> {
    const { runId } = await this.told({ to: 'POST /v1/runs', body: { workflowId: `parent-of-${workflow}` } });
    for (let last = 0; ; ) {
      const poll = await this.told({ to: `GET /v1/runs/${runId}/events/poll?lastSequence=${last}&timeout=5` });
      const found = /"childRunId":"(run_[^"]+)"/.exec(JSON.stringify(poll))?.[1];
      if (found !== undefined) {
        await this.reaches(found, workflow === 'expires' ? 'failed' : 'waiting-approval');
        return found;
      }
      last = Number(poll.lastEventSeq ?? last);
    }
  }

  /** Polls the run. Each poll ends with the next event. */
  async reaches(run: string, status: string): Promise<void> {
    for (let last = 0; ; ) {
      const { status: now } = await this.told({ to: `GET /v1/runs/${run}` });
      if (now === status) return;
      const poll = await this.told({ to: `GET /v1/runs/${run}/events/poll?lastSequence=${last}&timeout=5` });
      if (poll.isComplete === true && poll.runStatus !== status)
        throw new Error(`${run} is ${poll.runStatus}, not ${status}`);
      last = Number(poll.lastEventSeq ?? last);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#host.close();
  }
}

const credential = (who: Who): Readonly<Record<string, string>> =>
  who === 'nobody' ? {} : { authorization: `Bearer ${key(who)}` };

/** Replaces only the `{name}` placeholders of a row, since paths and JSON contain braces of their own. */
export const filled = (text: string, names: Names): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole);
