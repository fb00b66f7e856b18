/**
 * The process of an MCP server: started without a shell and with few variables, in a process group of its own, which ends
 * with it. What it writes is bounded.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { type FewLines, fewLines } from '../../peers/few-lines.ts';
import { JsonValues, MAX_JSON_VALUES } from '../../peers/json-values.ts';
import type { StdioServerSettings } from '../server-settings.ts';
import { LineSplitter } from './line-splitter.ts';

/** Variables of the host that a program needs to run at all. They hold no secrets. */
const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SYSTEMROOT', 'PATHEXT'];

/** How long a process may take to end by itself once its input is closed, and then after a signal. */
const CLOSE_MS = 500;
const SIGNAL_MS = 1_000;

/** What the server may leave unread of all that it was sent. */
const MAX_UNREAD_BYTES = 8_000_000;

/** How the reasons of an end begin. */
export const ENDED = 'ended';
export const SENT = 'sent';

export interface ProcessPorts {
  readonly line: (text: string) => void;
  readonly bytes: (count: number) => void;
  readonly stderr: LineSplitter;
  /** Called once: it ended, could not be started, or breaks a rule. `why` follows "The MCP server <id> ". */
  readonly over: (why: string) => void;
}

export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ports: ProcessPorts;
  readonly #exited = Promise.withResolvers<void>();
  #isOver = false;

  constructor(server: StdioServerSettings, ports: ProcessPorts) {
    this.#ports = ports;
    const child = spawn(server.command, server.args, {
      shell: false,
      // A group of its own, so that the programs that it starts end with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environmentOf(server),
      ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
    });
    this.#child = child;
    child.on('error', (error: NodeJS.ErrnoException) => {
      this.#over(`could not be started (${error.code ?? error.name})`);
      this.#exited.resolve();
    });
    child.on('exit', (code, signal) => {
      this.#over(`${ENDED} (${signal ?? `exit code ${code}`})`);
      this.#kill('SIGKILL');
      this.#exited.resolve();
    });
    this.#read(server.maxResponseBytes);
  }

  #read(maxBytes: number): void {
    const { stdin, stdout, stderr } = this.#child;
    const lines = new LineSplitter({
      maxBytes,
      line: (text) => {
        if (new JsonValues(false).take(Buffer.from(text))) this.#ports.line(text);
        else this.fail(`${SENT} more than ${MAX_JSON_VALUES} values in one line`);
      },
      tooLong: () => this.fail(`${SENT} a line of more than ${maxBytes} bytes`),
    });
    readInTurns(stdout, ({ bytes, cost }) => {
      this.#ports.bytes(cost);
      if (!this.#isOver) lines.take(bytes);
    });
    readInTurns(stderr, ({ bytes }) => this.#ports.stderr.take(bytes));
    stderr.on('end', () => this.#ports.stderr.end());
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  }

  /** Resolves when the process is gone. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  write(text: string): void {
    const { stdin } = this.#child;
    if (this.#isOver || !stdin.writable) return;
    stdin.write(text);
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.fail('does not read what it is sent');
  }

  /** Ends the process at once. */
  fail(why: string): void {
    this.#over(why);
    this.#kill('SIGKILL');
    this.#letGo();
  }

  #over(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.over(why);
  }

  /** Closes its input, then asks it to end, then ends it. Resolves when it is gone. */
  async close(): Promise<void> {
    this.#over('was stopped');
    this.#child.stdin.end();
    if (!(await this.#endsWithin(CLOSE_MS))) this.#kill('SIGTERM');
    if (!(await this.#endsWithin(SIGNAL_MS))) this.#kill('SIGKILL');
    await this.#exited.promise;
    this.#letGo();
  }

  /** For the end of the host's own process, which waits for nothing. */
  killNow(): void {
    this.#kill('SIGKILL');
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(() => late.resolve(false), ms);
    const isGone = await Promise.race([this.#exited.promise.then(() => true), late.promise]);
    clearTimeout(timer);
    return isGone;
  }

  /** A program that it left behind may hold the pipes open. */
  #letGo(): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // No process of the group is left.
    }
  }
}

/** Reads a few lines in each turn of the event loop. Nothing more arrives before all of them are read. */
function readInTurns(stream: Readable, take: (part: FewLines<Buffer>) => void): void {
  stream.on('data', (piece: Buffer) => {
    const parts = fewLines(piece);
    const goOn = (part: IteratorResult<FewLines<Buffer>, void>): void => {
      if (part.done !== true) take(part.value);
      const next = parts.next();
      if (next.done === true) {
        stream.resume();
        return;
      }
      stream.pause();
      setImmediate(goOn, next);
    };
    goOn(parts.next());
  });
}

function environmentOf({ env }: StdioServerSettings): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of inherited) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(env)) environment[name] = value.reveal();
  return environment;
}
