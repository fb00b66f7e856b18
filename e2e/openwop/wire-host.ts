/** A host as a black-box client sees it, over real HTTP on a real database. Validates every response. */
import { fail } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, type JsonObject, parseEvent, type RunEventDoc, type RunStatus } from '@cairn/protocol';
import type { HostOptions } from '../../packages/host/src/index.ts';
import { createHost, type Host } from '../../packages/host/src/index.ts';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { type Fixture, openwopData } from './openwop-data.ts';
import type { WireSchemas } from './wire-schemas.ts';

/** The callers: two tenants, three principals of the first, and one read-only principal. */
const callers = {
  ann: { key: 'wire-key-of-ann-0001', tenant: 'acme', principal: 'ann', audit: true },
  bob: { key: 'wire-key-of-bob-0002', tenant: 'acme', principal: 'bob', audit: false },
  cleo: { key: 'wire-key-of-cleo-003', tenant: 'acme', principal: 'cleo', audit: false },
  stranger: { key: 'wire-key-of-other-04', tenant: 'globex', principal: 'zoe', audit: false },
  reader: { key: 'wire-key-of-reader-5', tenant: 'acme', principal: 'ray', audit: false },
} as const;
export type CallerName = keyof typeof callers;

/** The secret that a fixture tries to store where it is not allowed. */
export const TEST_SECRET = { id: 'conformance-test-secret', value: 'wire-secret-that-nobody-may-read' } as const;

const ordinary = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'artifacts:read',
  'approvals:respond',
  'packs:publish',
  'packs:read',
  'packs:yank',
] as const;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

export interface Call {
  /** Default `ann`; null sends no key. */
  readonly as?: CallerName | null;
  /** JSON is serialised. Text is sent unchanged. */
  readonly body?: JsonObject | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Run {
  readonly runId: string;
  /** Waits until the run waits for a person or an external event, or ends. */
  settled(): Promise<RunView>;
  /** Waits for the terminal event. */
  ended(): Promise<RunView>;
  /** Waits for an event of this type. */
  after(type: string): Promise<RunView>;
  answer(nodeId: string, value: Json, as?: CallerName): Promise<Reply>;
  cancel(): Promise<Reply>;
}

/** The current state of a run: its snapshot and every event, both validated. */
export interface RunView {
  readonly status: RunStatus;
  readonly snapshot: JsonObject;
  readonly events: readonly RunEventDoc[];
  /** Event types in order, without operator rows and our own extensions. */
  readonly types: readonly string[];
  payloads(type: string): readonly JsonObject[];
}

const ends = ['run.completed', 'run.failed', 'run.cancelled'];

/** Long polls end well before the test's own timeout. */
const POLL_SECONDS = 20;

export class WireHost implements AsyncDisposable {
  readonly #host: Host;
  readonly #folder: string;
  readonly #schemas: WireSchemas;

  private constructor(host: Host, folder: string, schemas: WireSchemas) {
    this.#host = host;
    this.#folder = folder;
    this.#schemas = schemas;
  }

  static async open(schemas: WireSchemas, options: Pick<HostOptions, 'workflows'> = {}): Promise<WireHost> {
    const folder = await mkdtemp(join(tmpdir(), 'cairn-wire-'));
    const keys = Object.entries(callers).map(([name, { key, tenant, principal, audit }]) => ({
      key,
      tenant,
      principal,
      scopes: name === 'reader' ? ['runs:read' as const] : [...ordinary, ...(audit ? ['audit:read' as const] : [])],
    }));
    const limits = { maxRunDurationMs: 600_000, maxRequestBodyBytes: 262_144 };
    const secrets = { [TEST_SECRET.id]: { value: TEST_SECRET.value } };
    const config = { port: 0, data: folder, keys, limits, secrets, conformance: true };
    const host = await createHost({ ...options, config, allowUnsignedPacks: true, report: () => undefined });
    return new WireHost(host, folder, schemas);
  }

  async call(method: string, path: string, { as = 'ann', body, headers }: Call = {}): Promise<Reply> {
    const response = await fetch(`${this.#host.url}${path}`, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${callers[as].key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = fields(text === '' ? {} : JSON.parse(text));
    if (response.status >= 400) this.#schemas.checkError(parsed);
    return { status: response.status, headers: response.headers, body: parsed };
  }

  /** The body of a GET as text, for a stream that ends by itself. */
  async text(path: string, headers: Readonly<Record<string, string>>, as: CallerName = 'ann'): Promise<string> {
    const response = await fetch(`${this.#host.url}${path}`, {
      headers: { authorization: `Bearer ${callers[as].key}`, ...headers },
    });
    return response.text();
  }

  /** Registers a fixture, byte for byte as published. */
  register(fixture: Fixture, as: CallerName = 'ann'): Promise<Reply> {
    return this.call('POST', '/v1/workflows', { body: fixture.text, as });
  }

  /** Registers the fixtures that another one needs. */
  async registerFixtures(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const reply = await this.register(present(openwopData()?.fixtures.get(id)));
      if (![200, 201].includes(reply.status)) fail(`${id} was refused: ${JSON.stringify(reply.body)}`);
    }
  }

  create(body: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.call('POST', '/v1/runs', { body, headers });
  }

  start(workflowId: string, rest: JsonObject = {}): Promise<Run> {
    return this.#started({ workflowId, ...rest });
  }

  /** Starts a run of one agent. */
  startAgent(agentId: string, inputs: JsonObject): Promise<Run> {
    return this.#started({ agentId, inputs });
  }

  async #started(body: JsonObject): Promise<Run> {
    const reply = await this.create(body);
    if (reply.status !== 201) fail(`POST /v1/runs answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return this.run(String(reply.body.runId));
  }

  /** Forks a run. Throws unless the host accepts it. */
  async fork({ runId }: Run, body: JsonObject): Promise<Run> {
    const reply = await this.call('POST', `/v1/runs/${runId}:fork`, { body });
    if (reply.status !== 201) fail(`The fork was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return this.run(String(reply.body.runId));
  }

  /** Compares two runs. */
  async diff(a: Run, b: Run): Promise<JsonObject> {
    const { status, body } = await this.call('GET', `/v1/runs/${a.runId}:diff?against=${b.runId}`);
    if (status !== 200) fail(`The diff was answered ${status}: ${JSON.stringify(body)}`);
    this.#schemas.checkDiff(body);
    return body;
  }

  /** Returns an existing run, such as one that another run started. */
  run(runId: string): Run {
    const path = `/v1/runs/${runId}`;
    return {
      runId,
      settled: () => this.#when(runId, (view) => view.status !== 'running' && view.status !== 'pending'),
      ended: () => this.#when(runId, (view) => ['completed', 'failed', 'cancelled'].includes(view.status)),
      after: async (type) => {
        await this.#when(runId, (view) => view.types.includes(type));
        // A snapshot is read before the events, so that of the last look may be older than this event.
        return this.#look(runId);
      },
      answer: (nodeId, value, as) =>
        this.call('POST', `${path}/interrupts/${nodeId}`, { body: { resumeValue: value }, ...(as ? { as } : {}) }),
      cancel: () => this.call('POST', `${path}/cancel`, { body: {} }),
    };
  }

  /** Reads the run again after each new event, until the condition holds. */
  async #when(runId: string, asked: (view: RunView) => boolean): Promise<RunView> {
    for (;;) {
      const view = await this.#look(runId);
      if (asked(view)) return view;
      const last = view.events.at(-1)?.sequence ?? 0;
      // The run advanced after its snapshot was read and before its events were, so a poll may return nothing.
      if (ends.includes(view.events.at(-1)?.type ?? '')) continue;
      if ((await this.call('GET', `/v1/runs/${runId}`)).body.status !== view.status) continue;
      const path = `/v1/runs/${runId}/events/poll?lastSequence=${last}&timeout=${POLL_SECONDS}`;
      const { body } = await this.call('GET', path);
      if (objects(body.events).length === 0) fail(`Run ${runId} rests: ${view.types.join(' ')}`);
    }
  }

  async #look(runId: string): Promise<RunView> {
    const snapshot = (await this.call('GET', `/v1/runs/${runId}`)).body;
    const { body } = await this.call('GET', `/v1/runs/${runId}/events`);
    const events = objects(body.events).map((event) => parseEvent(event));
    this.#schemas.checkSnapshot(snapshot);
    for (const event of events) this.#schemas.checkEvent(event);
    return {
      status: snapshot.status as RunStatus,
      snapshot,
      events,
      types: events.map((event) => event.type).filter((type) => !type.startsWith('cairn.')),
      payloads: (type) => events.filter((event) => event.type === type).map((event) => fields(event.payload)),
    };
  }

  checkMemoryEntry(entry: Json | undefined): void {
    this.#schemas.checkMemoryEntry(entry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
