/**
 * Runs each program under test in its own process, driven over IPC, so that its CPU and heap are measured in isolation.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TerminalError } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';

/** The commands a child accepts, by name. Inputs and answers cross as JSON. */
export type Commands = Readonly<Record<string, (input: never) => unknown>>;

interface Ask {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

type Answer = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

/** CPU milliseconds of all threads since the process started. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The child's side: answers the parent's commands until the parent disconnects. */
export function serveCommands(commands: Commands): void {
  process.on('message', async ({ id, name, input }: Ask) => {
    try {
      const command = commands[name] as ((input: unknown) => unknown) | undefined;
      process.send?.({ id, value: await present(command)(input) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on('disconnect', () => process.exit(0));
}

/** The parent's side. */
export class Child<C extends Commands> implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #file: string;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** `module` is the child's URL. `flags` are added to the flags every child gets. */
  constructor(module: URL, flags: readonly string[] = []) {
    this.#file = fileURLToPath(module);
    this.#process = fork(this.#file, {
      execArgv: ['--conditions=@cairn/source', '--expose-gc', ...flags],
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#process.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.#process.on('exit', (code, signal) => {
      for (const [id, settle] of this.#waiting) settle({ id, error: `it ended with ${signal ?? `code ${code}`}` });
      this.#waiting.clear();
    });
  }

  async ask<N extends keyof C & string>(name: N, ...[input]: Parameters<C[N]>): Promise<Awaited<ReturnType<C[N]>>> {
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((settle) => {
      this.#waiting.set(id, settle);
      this.#process.send({ id, name, input } satisfies Ask);
    });
    if ('error' in answer) {
      throw new TerminalError('internal_error', {
        message: `${this.#file} could not do ${name}: ${answer.error}`,
        hint: 'Its own output, if it wrote any, is above.',
      });
    }
    return answer.value as Awaited<ReturnType<C[N]>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.disconnect();
    await gone;
  }
}
