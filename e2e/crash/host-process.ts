/** Controls the host process for its killer: starts it, tracks its current port, kills it, and restarts it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { hostHeapFlags } from '../../packages/host/bin/heap.mjs';
import type { HostSettings } from './host-main.ts';
import type { FromHost } from './serve-host.ts';

/** How the start of a process ended. */
export type Birth = Extract<FromHost, { kind: 'ready' | 'failed' }> | { readonly kind: 'died'; readonly how: string };

export class HostProcess implements AsyncDisposable {
  readonly settings: HostSettings;
  readonly #program: string;
  /** Warnings and errors the host reported, over all its processes. */
  readonly notices: string[] = [];
  /** Exits of processes that the test did not cause. */
  readonly ownDeaths: string[] = [];
  #child: ChildProcess | null = null;
  #up = Promise.withResolvers<string>();
  #exited: Promise<unknown> = Promise.resolve();
  #serving = false;
  #ending = false;

  /** The program receives the settings as its only argument, and uses the messages of `host-main.ts`. */
  constructor(settings: HostSettings, program = join(import.meta.dirname, 'host-main.ts')) {
    this.settings = settings;
    this.#program = program;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts a process. Resolves once it serves, or has exited before serving. */
  async start(): Promise<Birth> {
    const child = fork(this.#program, [JSON.stringify(this.settings)], {
      execArgv: [...hostHeapFlags, '--conditions=@cairn/source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    this.#exited = once(child, 'exit');
    this.#ending = false;
    child.once('exit', (code, signal) => {
      if (this.#serving && !this.#ending) this.ownDeaths.push(signal ?? `code ${code}`);
    });
    const birth = await new Promise<Birth>((resolve) => {
      child.on('message', (message: FromHost) => {
        if (message.kind === 'noticed') this.notices.push(`${message.level}: ${message.message}`);
        else resolve(message);
      });
      child.once('exit', (code, signal) => resolve({ kind: 'died', how: signal ?? `code ${code}` }));
    });
    if (birth.kind === 'ready') {
      this.#serving = true;
      this.#up.resolve(birth.url);
    } else await this.#gone(child);
    return birth;
  }

  /** Kills the process immediately, like a power cut. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#ending = true;
    this.#down();
    child.kill('SIGKILL');
    await this.#gone(child);
  }

  /** Asks the host to stop. Resolves with how its process ended. */
  async stop(): Promise<string> {
    const child = this.#child;
    if (child === null) return 'not running';
    this.#ending = true;
    this.#down();
    if (child.connected) child.send('stop');
    await this.#gone(child);
    return child.signalCode ?? `code ${child.exitCode}`;
  }

  /** Resolves when the current process has ended. */
  async gone(): Promise<void> {
    await this.#exited;
  }

  /** Current address of the host. Waits while the host is down. */
  async address(signal?: AbortSignal | null): Promise<string> {
    signal?.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([this.#up.promise, aborted.promise]);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Sends a request to the host's current address. `input` is a path. Usable as a client's `fetch`. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(input), 'http://host');
    return fetch(new URL(pathname + search, await this.address(init?.signal)), init);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Invalidates only an address that was already published. Pending waiters keep waiting. */
  #down(): void {
    if (!this.#serving) return;
    this.#serving = false;
    this.#up = Promise.withResolvers<string>();
  }

  async #gone(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (this.#child === child) this.#child = null;
  }
}
