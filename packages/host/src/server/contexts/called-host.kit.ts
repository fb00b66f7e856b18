/** A whole host whose agents call tools as their scripts say, on a clock that the test sets; not shipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { z } from 'zod';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import type { Tool, ToolContext } from '../../agents/tools/tool.ts';
import type { Store } from '../../log/ports/store.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import type { HostOptions } from '../create-host.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { until } from './talk.kit.ts';

export const keys = { ann: 'ann-key-0123456789-abcdefghijklmnop', bob: 'bob-key-0123456789-abcdefghijklmnop' };

export type Event = JsonObject & { readonly kind: string; readonly taskId: string; readonly cursor: number };
export type Task = { readonly contextId: string; readonly taskId: string };

/** A turn of the model that calls these tools. */
export const calls = (...tools: readonly (readonly [string, JsonObject])[]): Json =>
  tools.map(([tool, input]) => ({ call: { tool, input } }));
export const says = (text: string): Json => [{ say: [text] }];

export const agentOf = (id: string, turns: readonly Json[], tools: string[] = ['client:*', 'acme.desk:*']) =>
  defineAgent({ id, persona: 'Desk', instructions: 'Do it.', tools, rehearsal: { turns: [...turns] } });

/** A tool whose work is set by the test that runs. */
export function workTool() {
  const set: { work: (context: ToolContext) => Promise<Json> } = { work: async () => null };
  const tool = defineTool({
    id: 'acme.desk:work',
    description: 'Works.',
    input: z.object({}),
    safety: 'idempotent',
    run: (_, context) => set.work(context),
  });
  return { tool, set };
}

const isEnd = ({ kind, status }: JsonObject): boolean =>
  kind === 'task-complete' || (kind === 'task-status' && (status === 'failed' || status === 'canceled'));

export const ofKind = (events: readonly Event[], kind: string) => events.filter((event) => event.kind === kind);

/** Every tool-start has one tool-complete, and no tool-complete is without its start. */
function expectPairs(events: readonly Event[]): void {
  const started = ofKind(events, 'tool-start').map(({ toolCallId }) => toolCallId);
  const completed = ofKind(events, 'tool-complete').map(({ toolCallId }) => toolCallId);
  expect(new Set(started).size).toBe(started.length);
  expect([...completed].sort()).toEqual([...started].sort());
  for (const id of started) {
    const of = events.filter(({ toolCallId }) => toolCallId === id).map(({ kind }) => kind);
    expect([of[0], of.at(-1)]).toEqual(['tool-start', 'tool-complete']);
  }
}

export class CalledHost {
  readonly clock = new VirtualClock(Date.now());
  readonly folder = mkdtempSync(join(tmpdir(), 'cairn-called-'));
  readonly notices: { readonly event: string; readonly facts?: object }[] = [];
  readonly #agents: HostOptions['agents'];
  readonly #tools: readonly Tool[];
  #host: Host | null = null;
  #store: Store | null = null;

  constructor(agents: HostOptions['agents'], tools: readonly Tool[] = []) {
    this.#agents = agents;
    this.#tools = tools;
  }

  async start(): Promise<void> {
    this.#store = await openSqliteStore({ folder: this.folder, onFault: () => undefined });
    const key = (principal: 'ann' | 'bob') => ({ key: keys[principal], tenant: 't', principal });
    this.#host = await createHostOver(this.#store, {
      report: (notice) => void this.notices.push(notice),
      clock: { now: () => this.clock.now(), wakeAt: (at, wake) => this.clock.wakeAt(at, wake) },
      tools: this.#tools,
      agents: this.#agents ?? [],
      config: { port: 0, data: this.folder, keys: [key('ann'), key('bob')], tools: { clientTimeoutMs: 60_000 } },
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

  async restart(): Promise<void> {
    await this.#host?.close();
    await this.start();
  }

  async close(): Promise<void> {
    await this.#host?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async ask(method: string, path: string, { body, key = keys.ann }: { body?: object; key?: string } = {}) {
    return fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        prefer: 'respond-async',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async json(method: string, path: string, more: { body?: object; key?: string } = {}) {
    const response = await this.ask(method, path, more);
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  async send(agentId: string, more: object = {}): Promise<Task> {
    const body = { message: { role: 'user', content: 'Go.' }, agentId, ...more };
    const sent = await this.json('POST', '/api/messages', { body });
    expect(sent).toMatchObject({ status: 202 });
    return { contextId: String(sent.body.contextId), taskId: String(sent.body.taskId) };
  }

  /** The events of a context up to one that the test waits for. */
  async upTo({ contextId }: Task, isLast: (event: Event) => boolean): Promise<readonly Event[]> {
    const response = await this.ask('GET', `/api/contexts/${contextId}/stream?after=0`);
    const frames = await until(response, ({ data }) => isLast(data as Event));
    return frames.map(({ data }) => data as Event).filter(({ cursor }) => cursor !== undefined);
  }

  /** The events of a context once its root task has ended. */
  async ended(task: Task): Promise<readonly Event[]> {
    const events = await this.upTo(task, (event) => event.taskId === task.taskId && isEnd(event));
    expectPairs(events);
    return events;
  }

  answer({ contextId }: Task, inputId: unknown, body: object, key: string = keys.ann) {
    return this.json('POST', `/api/contexts/${contextId}/inputs/${inputId}`, { body, key });
  }

  cancelTool({ contextId }: Task, toolCallId: unknown, body: object = {}) {
    const path = `/api/contexts/${contextId}/tools/${encodeURIComponent(String(toolCallId))}/cancel`;
    return this.json('POST', path, { body });
  }
}
