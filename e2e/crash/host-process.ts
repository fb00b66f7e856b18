/** The host's process as its killer holds it: started, reached at whatever port it has now, killed, started again. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FromHost, HostSettings } from './host-main.ts';

/** How a life began. */
export type Birth = Extract<FromHost, { kind: 'ready' | 'failed' }> | { readonly kind: 'died'; readonly how: string };

export class HostProcess implements AsyncDisposable {
  readonly settings: HostSettings;
  readonly #program: string;
  /** What the host reported as a warning or an error, over all its lives. */
  readonly notices: string[] = [];
  /** How lives ended that nobody ended. */
  readonly ownDeaths: string[] = [];
  #child: ChildProcess | null = null;
  #up = Promise.withResolvers<string>();
  #serving = false;
  #ending = false;

  /** The program is given the settings as its only argument, and speaks as `host-main.ts` does. */
  constructor(settings: HostSettings, program = join(import.meta.dirname, 'host-main.ts')) {
    this.settings = settings;
    this.#program = program;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts a life; resolves once it serves, or has ended without. */
  async start(): Promise<Birth> {
    const child = fork(this.#program, [JSON.stringify(this.settings)], {
      execArgv: ['--conditions=@cairn/source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
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

  /** Ends the life at once, as a power cut would end the process. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#ending = true;
    this.#down();
    child.kill('SIGKILL');
    await this.#gone(child);
  }

  /** Asks the host to stop; resolves with how its process ended. */
  async stop(): Promise<string> {
    const child = this.#child;
    if (child === null) return 'not running';
    this.#ending = true;
    this.#down();
    if (child.connected) child.send('stop');
    await this.#gone(child);
    return child.signalCode ?? `code ${child.exitCode}`;
  }

  /** Where the host serves now; waits while it is down. */
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

  /** Sends a request to wherever the host is: `input` is a path. Usable as a client's `fetch`. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(input), 'http://host');
    return fetch(new URL(pathname + search, await this.address(init?.signal)), init);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Whoever waits for an address already goes on waiting; only one that was given out is taken back. */
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
