/** The desk as a whole host over SQLite in this process, and clients of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, createClient } from '@cairn/client/context';
import type { JsonObject, TaskEvent, TaskEventPage } from '@cairn/protocol';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { openSqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { until } from '../../packages/host/src/server/contexts/talk.kit.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import type { FakeOpenAi } from '../../packages/host/test/kit/fake-openai.ts';
import { fieldsOrNone } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { isEnd } from './audit.ts';
import { desk, deskConfig, keys } from './desk.ts';
import { deskModel } from './desk-model.ts';

export type Who = keyof typeof keys;

export interface Reply {
  readonly status: number;
  readonly body: JsonObject;
}

export class DeskHost implements AsyncDisposable {
  readonly #folder: string;
  readonly #model: FakeOpenAi;
  #store: Store | null = null;
  /** More than one when another host serves the same log. */
  readonly hosts: Host[] = [];

  private constructor(folder: string, model: FakeOpenAi) {
    this.#folder = folder;
    this.#model = model;
  }

  static async open(): Promise<DeskHost> {
    const host = new DeskHost(await mkdtemp(join(tmpdir(), 'cairn-desk-')), await deskModel(0));
    await host.start();
    return host;
  }

  /** The first host of the log, or one more. */
  async start(): Promise<Host> {
    this.#store ??= await openSqliteStore({ folder: this.#folder });
    const host = await createHostOver(this.#store, {
      ...desk,
      config: { ...deskConfig(this.#model.url), data: this.#folder },
      report: () => undefined,
    });
    this.hosts.push(host);
    return host;
  }

  async stop(): Promise<void> {
    for (const host of this.hosts.splice(0)) await host.close();
    this.#store = null;
  }

  url(place = 0): string {
    return present(this.hosts[place]?.url);
  }

  async ask(method: string, path: string, { as = 'ann', body }: { as?: Who; body?: object } = {}): Promise<Reply> {
    const response = await fetch(this.url() + path, {
      method,
      headers: {
        authorization: `Bearer ${keys[as]}`,
        prefer: 'respond-async',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: fieldsOrNone(await response.json().catch(() => ({}))) };
  }

  context(contextId: string, { as = 'ann', place = 0 }: { as?: Who; place?: number } = {}): Context {
    return createClient({ url: this.url(place), key: keys[as] }).context(contextId);
  }

  /** Sends a message to an agent. Returns its task and its context. */
  async send(agentId: string, contextId?: string): Promise<{ readonly taskId: string; readonly contextId: string }> {
    const message = { role: 'user', content: 'Go.' };
    const { body } = await this.ask('POST', '/api/messages', {
      body: { message, agentId, ...(contextId !== undefined && { contextId }) },
    });
    return { taskId: String(body.taskId), contextId: String(body.contextId) };
  }

  /** The events of a context up to the first that a test waits for, from the stream. */
  async until(contextId: string, isLast: (event: TaskEvent) => boolean, place = 0): Promise<readonly TaskEvent[]> {
    const seen: TaskEvent[] = [];
    for await (const event of this.context(contextId, { place }).follow({ after: 0 })) {
      if (event.kind === 'stream:caught-up' || event.kind === 'stream:reset') continue;
      seen.push(event);
      if (isLast(event)) break;
    }
    return seen;
  }

  /** The newest cursor of a context. */
  async head(contextId: string): Promise<number> {
    return Number((await this.ask('GET', `/api/contexts/${contextId}/tasks`)).body.head);
  }

  async page(path: string, as: Who): Promise<readonly TaskEvent[]> {
    const response = await this.#get(path, as);
    const page: TaskEventPage = JSON.parse(await response.text());
    return page.events;
  }

  /** The events that a stream sends before it says that nothing is left. */
  async replayed(path: string, as: Who): Promise<readonly TaskEvent[]> {
    return eventsUntil(await this.#get(path, as), 'stream:caught-up');
  }

  /** An open stream; `ended` has its events once the host stops. */
  async live(path: string, as: Who): Promise<{ readonly ended: Promise<readonly TaskEvent[]> }> {
    return { ended: eventsUntil(await this.#get(path, as), 'stream:closing') };
  }

  #get = (path: string, as: Who): Promise<Response> =>
    fetch(`${this.url()}/api/contexts/${path}`, { headers: { authorization: `Bearer ${keys[as]}` } });

  ended = ({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }) =>
    this.until(contextId, (event) => event.taskId === taskId && isEnd(event));

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#model[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function eventsUntil(response: Response, last: string): Promise<readonly TaskEvent[]> {
  const frames = await until(response, ({ event }) => event === last);
  const shown: TaskEvent[] = JSON.parse(JSON.stringify(frames.filter(({ id }) => id !== null).map(({ data }) => data)));
  return shown;
}
