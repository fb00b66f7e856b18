/** One node: the `cairn start` command as a process that can be killed, paused and stopped. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const CAIRN = join(import.meta.dirname, '../../packages/host/bin/cairn.mjs');

/** The commands of `deploy/`. */
export const startCommand = (config: string) => ['cairn', 'start', '--config', config];
export const migrateCommand = (config: string) => ['cairn', 'migrate', '--config', config];

export class NodeProcess {
  readonly name: string;
  readonly #config: string;
  readonly #env: NodeJS.ProcessEnv;
  /** The newest lines of its log, over all processes. */
  readonly lines: string[] = [];
  /** Exits that the test did not cause. */
  readonly ownDeaths: string[] = [];
  #child: ChildProcess | null = null;
  #url: string | null = null;
  #isEnding = false;

  constructor(name: string, config: string, env: NodeJS.ProcessEnv) {
    this.name = name;
    this.#config = config;
    this.#env = env;
  }

  /** Null while it does not serve. A paused node serves, as far as a load balancer knows. */
  get url(): string | null {
    return this.#url;
  }

  /** Brings the database to the current schema. */
  async migrate(): Promise<void> {
    const child = this.#cairn(migrateCommand(this.#config));
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`cairn migrate ended with ${code}:\n${this.lines.join('\n')}`);
  }

  #cairn([, ...args]: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const child = spawn(process.execPath, ['--conditions=@cairn/source', CAIRN, ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.lines.push(line);
      if (this.lines.length > 200) this.lines.shift();
    });
    return child;
  }

  async start(): Promise<void> {
    const child = this.#cairn(startCommand(this.#config));
    this.#child = child;
    this.#isEnding = false;
    child.once('exit', (code, signal) => {
      this.#url = null;
      if (!this.#isEnding) this.ownDeaths.push(`${this.name}: ${signal ?? `code ${code}`}`);
    });
    const ready = Promise.withResolvers<string>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^cairn ready (\S+)$/.exec(line)?.[1];
      if (url !== undefined) ready.resolve(url);
    });
    child.once('exit', () =>
      ready.reject(new Error(`${this.name} does not start:\n${this.lines.slice(-5).join('\n')}`)),
    );
    this.#url = await ready.promise;
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Lets it finish what it does. Returns its exit code. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  wake(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return null;
    this.#isEnding = true;
    if (signal === 'SIGKILL') this.#url = null;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
    this.#child = null;
    return child.exitCode;
  }
}
