/** Keeps a development host up to date with its program: loads it again after each change of one of its files. */
import { existsSync } from 'node:fs';
import { basename, extname, relative, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { type App, appOf, defineApp } from '../../server/define-app.ts';
import { commandHint } from '../command-hint.ts';
import { safe, styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { AppModule, stampOf } from './app-module.ts';
import { loadError } from './load-error.ts';
import { FileWatch } from './watch-files.ts';

const extensions: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];

export class LiveApp {
  readonly #terminal: Terminal;
  readonly #module: AppModule;
  readonly #name: string;
  readonly #watch: FileWatch;
  #app: App = defineApp({});
  #redefine: ((app: App) => Promise<void>) | null = null;

  /** `file` is relative to the working folder. */
  constructor(terminal: Terminal, file: string) {
    const path = resolve(terminal.cwd, file);
    refuseOddFile(path, file);
    this.#terminal = terminal;
    this.#module = new AppModule(path);
    this.#name = relative(terminal.cwd, path);
    this.#watch = new FileWatch(() => void this.#reload());
  }

  /** Loads the program and starts its host. An error of the program has its place in the message. */
  async start<Host extends Redefinable>(serve: (app: App) => Promise<Host>): Promise<Host> {
    const app = await this.#naming(async () => appOf(await this.#module.load()));
    const host = await this.#naming(() => serve(app), { isKnown: true });
    this.#app = app;
    this.#redefine = (next) => host.redefine(next);
    this.#watch.set(this.#module.files);
    return host;
  }

  /** The version in use. */
  get app(): App {
    return this.#app;
  }

  close(): void {
    this.#redefine = null;
    this.#watch.close();
  }

  async #reload(): Promise<void> {
    const before = this.#module.files;
    const style = styleOf(this.#terminal.colours.err);
    try {
      const app = appOf(await this.#module.load());
      if (this.#redefine === null) return;
      await this.#redefine(app);
      this.#app = app;
      this.#terminal.tell(style.dim(`${this.#name} reloaded: ${contents(app)}`));
      this.#watch.set(this.#module.files);
    } catch (error) {
      if (this.#redefine === null) return;
      const { message, hint } = await loadError(error, this.#module, this.#terminal.cwd);
      this.#terminal.tell(style.red(safe(message)));
      if (hint !== undefined) this.#terminal.tell(`  ${safe(commandHint(hint, undefined))}`);
      this.#terminal.tell('The last good version stays in use. Save the file again when it is mended.');
      // The repair may be in a file that the failed load did not reach.
      const unread = [...before.keys()].map((file) => [file, stampOf(file)] as const);
      this.#watch.set(new Map([...unread, ...this.#module.files]));
    }
  }

  /** With `isKnown`, errors without a place in the program pass unchanged: the host may have other reasons not to start. */
  async #naming<Value>(act: () => Promise<Value>, { isKnown = false } = {}): Promise<Value> {
    try {
      return await act();
    } catch (cause) {
      const { message, hint, hasPlace } = await loadError(cause, this.#module, this.#terminal.cwd);
      if (isKnown && !hasPlace) throw cause;
      throw new TerminalError('config_invalid', { message, ...(hint === undefined ? {} : { hint }), cause });
    }
  }
}

/** A host that takes a changed program. */
interface Redefinable {
  redefine(app: App): Promise<void>;
}

function refuseOddFile(path: string, given: string): void {
  if (!existsSync(path)) {
    throw new TerminalError('not_found', {
      message: `There is no file ${given}.`,
      hint: 'Name the file with your app, as in "cairn dev app.ts". "cairn init my-app" writes a new project.',
    });
  }
  if (extensions.includes(extname(path))) return;
  throw new TerminalError('config_invalid', {
    message: `${basename(path)} is not a program: its name ends with ${extname(path) || 'no extension'}.`,
    hint: `Name a file that ends with ${extensions.join(', ')}.`,
  });
}

/** "2 tools, 1 agent, 1 workflow" */
const contents = (app: App): string =>
  (['tools', 'steps', 'agents', 'prompts', 'workflows'] as const)
    .flatMap((key) => (app[key].length === 0 ? [] : [counted(app[key].length, key)]))
    .join(', ') || 'it is empty';

const counted = (count: number, plural: string): string => `${count} ${count === 1 ? plural.slice(0, -1) : plural}`;
