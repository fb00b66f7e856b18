/**
 * Exchanges with an MCP server that the host starts: one process for all of them, started when it is needed, and again
 * after a while when it ended. It may send so many bytes for each exchange that is open.
 */
import { type CairnError, RetryableError, TerminalError } from '@cairn/protocol';
import type { Report } from '../../../engine/ports.ts';
import { mcpError } from '../mcp-error.ts';
import {
  type AskedClient,
  type Connection,
  createClient,
  type Exchange,
  type KnownServer,
  knownFrom,
} from '../sdk-client.ts';
import type { StdioServerSettings } from '../server-settings.ts';
import { ENDED, SENT, ServerProcess } from './server-process.ts';
import { StderrLog } from './stderr-log.ts';
import { StdioTransport } from './stdio-transport.ts';

export interface StdioPorts {
  readonly now: () => number;
  readonly report: Report;
  readonly toolsChanged: () => void;
}

/** How long a server may take to say which revision it speaks. One that stays silent speaks an older one. */
const PROBE_MS = 3_000;
const START_MS = 10_000;

/** The wait after a process ended: doubled each time, until an exchange succeeds. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

interface Running extends AskedClient {
  /** Rejects when the process is over. */
  readonly over: Promise<never>;
}

export class StdioConnection implements Connection {
  readonly #server: StdioServerSettings;
  readonly #ports: StdioPorts;
  readonly #stderr: StderrLog;
  /** Every process that may still be there. */
  readonly #processes = new Set<ServerProcess>();
  #running: Promise<Running> | null = null;
  #current: ServerProcess | null = null;
  #known: KnownServer | undefined;
  #failures = 0;
  #notBefore = Number.NEGATIVE_INFINITY;
  #lastEnd = '';
  /** Exchanges that are open, and the bytes that the server may still send for them. */
  #open = 0;
  #room = 0;
  #isClosed = false;

  constructor(server: StdioServerSettings, ports: StdioPorts) {
    this.#server = server;
    this.#ports = ports;
    this.#stderr = new StderrLog(server.id, ports);
    this.#room = server.maxResponseBytes;
  }

  async exchange<Result>(signal: AbortSignal, work: (exchange: Exchange) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    this.#open += 1;
    this.#room += this.#server.maxResponseBytes;
    try {
      const { over, ...asked } = await this.#process(signal);
      const done = work({ ...asked, options: { signal, timeout: this.#server.timeoutMs } });
      done.catch(() => undefined);
      const result = await Promise.race([done, over]);
      this.#failures = 0;
      return result;
    } catch (error) {
      throw mcpError(this.#server.id, error);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#room = this.#server.maxResponseBytes;
    }
  }

  /** The process that runs, or a new one. A call that is given up does not wait for its start. */
  async #process(signal: AbortSignal): Promise<Running> {
    if (this.#isClosed) throw this.#gone('was stopped');
    if (this.#running === null) {
      const waitMs = this.#notBefore - this.#ports.now();
      if (waitMs > 0) throw this.#gone(this.#lastEnd, waitMs);
      const starting = this.#start();
      this.#running = starting;
      starting.catch(() => {
        if (this.#running === starting) this.#running = null;
      });
    }
    const given = Promise.withResolvers<never>();
    const leave = () => given.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([this.#running, given.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async #start(): Promise<Running> {
    const wasKnown = this.#known !== undefined;
    try {
      return await this.#startOnce();
    } catch (error) {
      this.#known = undefined;
      // Some servers of older revisions end at the first message that they do not know.
      if (wasKnown || !this.#lastEnd.startsWith(ENDED)) throw error;
    }
    this.#known = { kind: 'legacy' };
    try {
      return await this.#startOnce();
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }

  async #startOnce(): Promise<Running> {
    const server = this.#server;
    const end = Promise.withResolvers<never>();
    end.promise.catch(() => undefined);
    const transport = new StdioTransport();
    const child = new ServerProcess(server, {
      line: (text) => transport.take(text),
      bytes: (count) => this.#count(count, child),
      stderr: this.#stderr.ofProcess(),
      over: (why) => {
        end.reject(this.#ended(child, why));
        transport.ended();
      },
    });
    this.#processes.add(child);
    void child.exited.then(() => this.#processes.delete(child));
    transport.attach(child);
    try {
      const asked = await Promise.race([this.#connected(transport), end.promise]);
      this.#current = child;
      return { ...asked, over: end.promise };
    } catch (error) {
      child.fail('did not start to speak the protocol');
      throw error;
    }
  }

  async #connected(transport: StdioTransport): Promise<AskedClient> {
    const known = this.#known;
    const asked = createClient({ probeMs: PROBE_MS, toolsChanged: this.#ports.toolsChanged });
    await asked.client.connect(transport, { timeout: START_MS, ...(known === undefined ? {} : { prior: known }) });
    this.#known = knownFrom(asked.client);
    return asked;
  }

  #count(bytes: number, child: ServerProcess): void {
    this.#room -= bytes;
    if (this.#room < 0) child.fail(`${SENT} more than ${this.#server.maxResponseBytes} bytes for each open call`);
  }

  #ended(child: ServerProcess, why: string): CairnError {
    if (this.#current === child) {
      this.#running = null;
      this.#current = null;
    }
    this.#lastEnd = why;
    if (this.#isClosed) return this.#gone(why);
    this.#failures += 1;
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
    this.#notBefore = this.#ports.now() + waitMs;
    const facts = { server: this.#server.id, why, restartInMs: waitMs };
    this.#ports.report({ level: 'warn', event: 'mcp.process_ended', facts });
    if (!why.startsWith(SENT)) return this.#gone(why, waitMs);
    return new TerminalError('tool_failed', {
      message: `The MCP server ${this.#server.id} ${why}, and was ended.`,
      hint: 'Ask for less, or have the operator raise maxResponseBytes.',
    });
  }

  #gone(why: string, waitMs = 0): RetryableError {
    const again = waitMs > 0 ? ` The host starts it again in ${Math.ceil(waitMs / 1_000)} s.` : '';
    return new RetryableError('http_network_error', {
      message: `The MCP server ${this.#server.id} ${why || 'is not there'}.${again}`,
      hint: 'Try again later; the notices mcp.stderr show what it wrote.',
    });
  }

  /** A server that is busy with calls may be slow to list its tools. */
  reset(): void {
    if (this.#open > 0) return;
    this.#known = undefined;
    for (const child of this.#processes) child.fail('did not answer');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#processes].map((child) => child.close()));
  }

  killNow(): void {
    for (const child of this.#processes) child.killNow();
  }
}
