/** The attacker's requests. Every answer must be a success or an error with a documented code. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { errorKinds, type Json, type JsonObject, MAX_BULK_CANCEL } from '@cairn/protocol';
import { fieldsOrNone, objects } from '../../packages/host/test/kit/json-fields.ts';
import type { HostProcess } from '../crash/host-process.ts';
import { definition, type Graph } from './graph.ts';

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

interface Request {
  readonly method?: string;
  /** Text is sent as it is. */
  readonly body?: Json | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection that throws away what it reads. */
export interface Watch {
  readonly status: number;
  readonly isCut: boolean;
  /** Whether the newest bytes contain a text. */
  ends(text: string): boolean;
}

interface Said {
  readonly taskId: string;
  readonly contextId: string;
}

/** The errors of A2A and MCP that their pages list. An internal error is none of them. */
const rpcCodes: ReadonlySet<number> = new Set([
  -32_700, -32_600, -32_601, -32_602, -32_001, -32_002, -32_004, -32_005, -32_009, -32_020, -32_022,
]);

const RUN_MS = 60_000;
const ANSWER_MS = 60_000;

export class Attacker implements AsyncDisposable {
  readonly #host: HostProcess;
  readonly #sockets: Socket[] = [];
  readonly #runs: string[] = [];
  readonly #given = new AbortController();
  /** How often each code ended something; successes are under `ok`. */
  readonly codes: Record<string, number> = {};
  /** Answers without a documented code, runs without an end, lost connections. */
  readonly faults: string[] = [];

  constructor(host: HostProcess) {
    this.#host = host;
  }

  async send(path: string, { method, body, headers = {} }: Request = {}): Promise<Answer> {
    const how = method ?? (body === undefined ? 'GET' : 'POST');
    try {
      const response = await this.#host.fetch(path, {
        method: how,
        headers: { authorization: `Bearer ${this.#host.settings.key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS), this.#given.signal]),
      });
      const answer = { status: response.status, body: fieldsOrNone(await response.json().catch(() => ({}))) };
      this.#judge(`${how} ${path}`, answer);
      return answer;
    } catch (error) {
      this.fault(`${how} ${path} got no answer: ${causeOf(error)}`);
      return { status: 0, body: {} };
    }
  }

  #judge(what: string, { status, body }: Answer): void {
    const { code: rpcCode } = fieldsOrNone(body.error);
    if (typeof rpcCode === 'number') {
      this.#judgeRpc(what, rpcCode);
      return;
    }
    const code = status < 400 ? 'ok' : String(body.error);
    this.codes[code] = (this.codes[code] ?? 0) + 1;
    if (status >= 400 && !(code in errorKinds)) this.fault(`${what} got ${status} without a documented code`);
    if (status === 500) this.fault(`${what} got 500 ${JSON.stringify(body).slice(0, 200)}`);
  }

  #judgeRpc(what: string, code: number): void {
    this.codes[code] = (this.codes[code] ?? 0) + 1;
    if (!rpcCodes.has(code)) this.fault(`${what} got the JSON-RPC error ${code}, which no page documents`);
  }

  fault(text: string): void {
    if (this.faults.length < 10) this.faults.push(text.slice(0, 300));
  }

  /** Registers a workflow. Returns false when the host refuses it. */
  async register(id: string, graph: Graph): Promise<boolean> {
    return (await this.send('/v1/workflows', { body: definition(id, graph) })).status < 300;
  }

  /** Starts a run. Returns its id; null when the host refuses it. */
  async start(workflowId: string, inputs: JsonObject = {}, contextId?: string): Promise<string | null> {
    const configurable = contextId === undefined ? {} : { configurable: { 'cairn.contextId': contextId } };
    const { status, body } = await this.send('/v1/runs', { body: { workflowId, inputs, ...configurable } });
    if (status >= 300 || typeof body.runId !== 'string') return null;
    this.#runs.push(body.runId);
    return body.runId;
  }

  /** Sends a message. Returns its task and its context; null when the host refuses it. */
  async say(
    agentId: string,
    { contextId, content = 'Go.', tools = [] }: { contextId?: string; content?: string; tools?: readonly Json[] } = {},
  ): Promise<Said | null> {
    const message = { role: 'user', content };
    const { status, body } = await this.send('/api/messages', {
      body: { message, agentId, ...(contextId !== undefined && { contextId }), ...(tools.length > 0 && { tools }) },
      headers: { prefer: 'respond-async' },
    });
    if (status >= 300 || typeof body.taskId !== 'string') return null;
    this.#runs.push(body.taskId);
    return { taskId: body.taskId, contextId: String(body.contextId) };
  }

  /** Waits for the run's end and notes its code. */
  async ended(runId: string | null): Promise<void> {
    if (runId === null) return;
    const until = Date.now() + RUN_MS;
    for (let after = 2 ** 40; Date.now() < until; ) {
      // A position far ahead: the state is wanted, not the events.
      const { status, body } = await this.send(`/v1/runs/${runId}/events/poll?timeout=1&lastSequence=${after}`);
      if (status !== 200) return;
      if (body.isTerminal === true) return this.#noteEnd(runId, String(body.runStatus));
      await pause(20);
    }
    this.fault(`run ${runId} had no end after ${RUN_MS} ms`);
  }

  async #noteEnd(runId: string, status: string): Promise<void> {
    if (status !== 'failed') return;
    const { body } = await this.send(`/v1/runs/${runId}`);
    const code = String(fieldsOrNone(body.error).code);
    this.codes[code] = (this.codes[code] ?? 0) + 1;
    if (!(code in errorKinds)) this.fault(`run ${runId} failed with ${code}, which no page documents`);
  }

  /** Registers, starts and waits. */
  async play(id: string, graph: Graph, inputs: JsonObject = {}): Promise<void> {
    if (await this.register(id, graph)) await this.ended(await this.start(id, inputs));
  }

  /** Answers the interrupt of a waiting run. */
  async answer(runId: string | null, nodeId: string, resumeValue: Json): Promise<void> {
    if (runId !== null) await this.send(`/v1/runs/${runId}/interrupts/${nodeId}`, { body: { resumeValue } });
  }

  /** Opens connections that send this text and never read. */
  async unread(count: number, text: string): Promise<void> {
    for (let index = 0; index < count; index += 1) (await this.#connection(text)).pause();
  }

  /** Posts bodies on connections of their own, and reads nothing. */
  async post(path: string, bodies: readonly Json[], headers: Readonly<Record<string, string>>): Promise<void> {
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    for (const body of bodies) {
      const text = JSON.stringify(body);
      const head = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`, ...more];
      await this.unread(1, this.request(path, head).replace('GET', 'POST') + text);
    }
  }

  /** Opens a connection that sends this text and throws away what comes. */
  async watch(text: string): Promise<Watch> {
    const socket = await this.#connection(text);
    let [status, isCut] = [0, false];
    let newest: readonly Buffer[] = [];
    socket.on('data', (bytes: Buffer) => {
      status ||= Number(bytes.toString('latin1', 9, 12));
      // Keepalives say nothing new.
      if (bytes.length > 64) newest = [newest.at(-1) ?? bytes, bytes];
    });
    socket.on('close', () => {
      isCut = true;
    });
    return {
      get status() {
        return status;
      },
      get isCut() {
        return isCut;
      },
      ends: (text) => Buffer.concat([...newest]).includes(text),
    };
  }

  /** Waits until every connection has read a text as its newest. One that was cut or refused is a fault. */
  async allEndWith(watches: readonly Watch[], text: string): Promise<void> {
    const until = Date.now() + RUN_MS;
    for (;;) {
      const missing = watches.filter((watch) => !watch.ends(text));
      if (missing.length === 0) return;
      if (Date.now() > until || missing.every(({ isCut }) => isCut)) {
        const [first] = missing;
        this.fault(
          `${missing.length} of ${watches.length} readers did not get ${text}; the first has ${first?.status}, cut: ${first?.isCut}`,
        );
        return;
      }
      await pause(50);
    }
  }

  async #connection(text: string): Promise<Socket> {
    const { port, hostname } = new URL(await this.#host.address());
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => undefined);
    socket.write(text);
    this.#sockets.push(socket);
    return socket;
  }

  /** Lets the host work on what it was sent. */
  async quiet(ms: number): Promise<void> {
    await pause(ms);
  }

  /** The text of a GET request, for connections that do not read. */
  request(path: string, headers: readonly string[] = []): string {
    return this.#head(`GET ${path}`, headers);
  }

  /** The text of a POST request. */
  posting(path: string, body: Json): string {
    const text = JSON.stringify(body);
    const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
    return this.#head(`POST ${path}`, headers) + text;
  }

  #head(line: string, headers: readonly string[]): string {
    const { key } = this.#host.settings;
    return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  }

  /** Reads the whole answer and throws it away. Returns its bytes. */
  async drain(path: string, headers: Readonly<Record<string, string>> = {}, body?: Json): Promise<number> {
    let bytes = 0;
    try {
      const response = await this.#host.fetch(path, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          authorization: `Bearer ${this.#host.settings.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS), this.#given.signal]),
      });
      if (response.status >= 400)
        this.#judge(path, { status: response.status, body: fieldsOrNone(await response.json()) });
      else for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
    } catch (error) {
      this.fault(`GET ${path} ended early: ${causeOf(error)}`);
    }
    return bytes;
  }

  /** Cancels the runs that it knows of by their events alone, because a stream of a front end started them. */
  async cancelRunning(): Promise<void> {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const { body } = await this.send('/v1/runs?status=running&limit=100');
      const runIds = objects(body.runs ?? []).map(({ runId }) => String(runId));
      if (runIds.length === 0) return;
      await this.#cancel(runIds);
    }
  }

  async #cancel(runIds: readonly string[]): Promise<void> {
    await this.send('/v1/runs:bulk-cancel', { body: { runIds: [...runIds], reason: 'The attack is over.' } });
  }

  /** Closes its connections and cancels its runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (let index = 0; index < this.#runs.length; index += MAX_BULK_CANCEL)
      await this.#cancel(this.#runs.slice(index, index + MAX_BULK_CANCEL));
    this.#given.abort();
  }
}

const causeOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`
    : String(error);
