/** A whole host with an agent whose model the test scripts, and a client of its conversations; not shipped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { chunk, type FakeReply, type FakeRequest, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import type { Store } from '../../log/ports/store.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { createHostOver, type Host } from '../create-host.ts';

export const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  bob: 'bob-key-0123456789-abcdefghijklmnop',
  other: 'other-key-0123456789-abcdefghijklmno',
  operator: 'operator-key-0123456789-abcdefghijk',
};

export interface Frame {
  readonly id: string | null;
  readonly event: string;
  readonly data: JsonObject & { readonly kind?: string; readonly cursor?: number };
}

/** Text that the model says, word by word. */
export const says = (...words: readonly string[]): FakeReply => ({
  chunks: [
    ...words.map((word) => chunk({ content: word })),
    chunk({}, 'stop'),
    usageChunk({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }),
  ],
});

const gate = defineWorkflow({ id: 'gate', version: '1', nodes: { ask: { type: 'core.approvalGate' } } });

export class Talk {
  readonly #folder: string;
  readonly #baseUrl: string;
  #host: Host | null = null;
  #store: Store | null = null;
  readonly requests: readonly FakeRequest[];
  /** What the model answers next; the default says `Hello.` */
  script: (request: FakeRequest, index: number) => FakeReply = () => says('Hel', 'lo.');
  readonly #closeModel: () => Promise<void>;

  private constructor(
    folder: string,
    model: { url: string; requests: readonly FakeRequest[]; close: () => Promise<void> },
  ) {
    this.#folder = folder;
    this.#baseUrl = model.url;
    this.requests = model.requests;
    this.#closeModel = model.close;
  }

  static async open(): Promise<Talk> {
    let reply: (request: FakeRequest, index: number) => FakeReply = () => says('Hi.');
    const server = await fakeOpenAi((request, index) => reply(request, index));
    const folder = await mkdtemp(join(tmpdir(), 'cairn-talk-'));
    const talk = new Talk(folder, {
      url: server.url,
      requests: server.requests,
      close: async () => server[Symbol.asyncDispose](),
    });
    reply = (request, index) => talk.script(request, index);
    await talk.start();
    return talk;
  }

  async start(): Promise<void> {
    const local = { kind: 'openai-compatible' as const, baseUrl: this.#baseUrl };
    const key = (value: string, tenant: string, principal: string, more: object = {}) => ({
      key: value,
      tenant,
      principal,
      ...more,
    });
    this.#store = await openSqliteStore({ folder: this.#folder, onFault: () => undefined });
    this.#host = await createHostOver(this.#store, {
      report: () => undefined,
      workflows: [gate],
      agents: [
        defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Answer.' }),
        defineAgent({ id: 'host:clerk', persona: 'Clerk', instructions: 'Answer, too.' }),
      ],
      config: {
        port: 0,
        data: this.#folder,
        defaultAgent: 'host:desk',
        limits: { maxQueuedMessages: 2 },
        keys: [
          key(keys.ann, 't', 'ann'),
          key(keys.bob, 't', 'bob'),
          key(keys.other, 'u', 'eve'),
          key(keys.operator, 't', 'root', {
            scopes: ['runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'audit:read', 'runs:delete'],
          }),
        ],
        models: { providers: { local }, default: 'local/small' },
      },
    });
  }

  get store(): Store {
    return this.#store as Store;
  }

  get engine(): Host['engine'] {
    return (this.#host as Host).engine;
  }

  get url(): string {
    return this.#host?.url ?? '';
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#closeModel();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async ask(
    method: string,
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${options.key ?? keys.ann}`,
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    });
    return response;
  }

  async json(method: string, path: string, options: Parameters<Talk['ask']>[2] = {}) {
    const response = await this.ask(method, path, options);
    const body = (await response.json()) as JsonObject;
    return { status: response.status, headers: response.headers, body };
  }

  /** Sends a message without waiting for its task. */
  async send(
    content: string,
    path = '/api/messages',
    more: { query?: string; body?: object; key?: string; headers?: Record<string, string> } = {},
  ) {
    const body = { message: { role: 'user', content }, ...more.body };
    const headers = { prefer: 'respond-async', ...more.headers };
    return this.json('POST', path + (more.query ?? ''), { body, headers, ...(more.key && { key: more.key }) });
  }

  /** Every task event of a context, from its pages. */
  async events(contextId: string, query = '', key: string = keys.ann) {
    const events: (JsonObject & { cursor: number; kind: string; taskId: string })[] = [];
    for (let after = 0; ; ) {
      const { body } = await this.json('GET', `/api/contexts/${contextId}/events?after=${after}&limit=7&${query}`, {
        key,
      });
      events.push(...(body.events as typeof events));
      if (Number(body.next) >= Number(body.head)) return events;
      after = Number(body.next);
    }
  }
}

/** The frames of an open stream, one after the other. Closes it at the end. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const frame = parsed(text.slice(0, end));
        text = text.slice(end + 2);
        if (frame !== null) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parsed(text: string): Frame | null {
  const field = (name: string) => text.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1] ?? null;
  const data = field('data');
  return data === null ? null : { id: field('id'), event: field('event') ?? '', data: JSON.parse(data) };
}

/** Frames up to the one that a test waits for. */
export async function until(response: Response, isLast: (frame: Frame) => boolean): Promise<readonly Frame[]> {
  const found: Frame[] = [];
  for await (const frame of frames(response)) {
    found.push(frame);
    if (isLast(frame)) return found;
  }
  return found;
}
