/** Generates the command-line page: prose for each verb, and the verb's real output for a new user. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../packages/host/src/cli/program.ts';
import { cut } from '../../packages/host/src/cli/render/table.ts';
import type { Terminal } from '../../packages/host/src/cli/terminal.ts';
import { quickStart } from '../../packages/host/test/kit/quick-start.ts';
import type { Section } from './cli-section.ts';
import { sections } from './cli-sections.ts';
import { Normaliser } from './normalise.ts';

const bin = join(import.meta.dirname, '../../packages/host/bin/cairn.mjs');

/**
 * Runs every command of the page in a new folder, against a host that `cairn dev` serves there, and writes the page.
 */
export async function cliPage(): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-page-'));
  const newcomer = new Newcomer(cwd);
  try {
    const parts: string[] = [];
    for (const section of sections) parts.push(await newcomer.section(section));
    return `${HEAD}\n${parts.join('\n')}`;
  } finally {
    await newcomer.leave();
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The terminal width used on the page. */
const COLUMNS = 110;

/** One line of output. `isForScreen` is set when a terminal would cut it to its width. */
interface Said {
  readonly text: string;
  readonly isForScreen: boolean;
}

interface Outcome {
  readonly said: readonly Said[];
  readonly code: number;
}

/** Runs the commands of the page in one folder. */
class Newcomer {
  readonly #cwd: string;
  readonly #normal: Normaliser;
  readonly #hosts: ChildProcess[] = [];
  /** Names that later commands use for the output of earlier ones. */
  readonly #names = new Map<string, string>();

  constructor(cwd: string) {
    this.#cwd = cwd;
    this.#normal = new Normaliser(cwd);
  }

  async section({ verb, subVerbs = [], prose, steps }: Section): Promise<string> {
    const lines: string[] = [];
    for (const { command, says = [], files = {}, names, head } of steps) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#cwd, name), text);
      const typed = this.#filled(command);
      const [, ...args] = words(typed);
      const isServing = verb === 'dev' || verb === 'start';
      const { said, code } = isServing ? await this.#serve(args) : await this.#type(args, says);
      if (names !== undefined) this.#names.set(names, runIdIn(said) ?? '');
      const shown = said.map((line) => this.#shown(line));
      lines.push(`$ ${this.#normal.text(typed)}`, ...(head === undefined ? shown : [...shown.slice(0, head), '…']));
      lines.push(...(code === 0 ? [] : [`(exit code ${code})`]), '');
    }
    const helps: string[] = [];
    for (const words of [[verb], ...subVerbs.map((sub) => [verb, sub])]) {
      helps.push((await this.#type([...words, '--help'], [])).said.map(({ text }) => text).join('\n'));
    }
    const help = helps.join('\n\n');
    const transcript = lines.join('\n').trimEnd();
    return `## ${verb}\n\n${prose}\n\n\`\`\`console\n${transcript}\n\`\`\`\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  }

  /** Cuts a line to the terminal width, after replacing values that differ between runs. */
  #shown({ text, isForScreen }: Said): string {
    const same = this.#normal.text(text);
    return isForScreen ? cut(same, COLUMNS) : same;
  }

  async leave(): Promise<void> {
    await Promise.all(this.#hosts.map(stopped));
  }

  #filled(command: string): string {
    return command.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = this.#names.get(name);
      if (value === undefined) throw new Error(`Nothing on the page is called ${name} yet.`);
      return value;
    });
  }

  /**
   * Runs a verb in this process, through the same program as the command. `says` holds the person's answers to prompts.
   */
  async #type(args: readonly string[], says: readonly string[]): Promise<Outcome> {
    const said: Said[] = [];
    const note = (isForScreen: boolean) => (text: string) => {
      for (const line of text.split('\n')) said.push({ text: line, isForScreen });
    };
    const answers = [...says];
    let code = 0;
    const terminal: Terminal = {
      version: '0.0.0',
      argv: ['node', 'cairn', ...args],
      env: {},
      cwd: this.#cwd,
      columns: null,
      colours: { out: false, err: false },
      isInteractive: says.length > 0,
      // Earlier than all events, so that every relative time reads "just now".
      now: () => 0,
      print: note(!args.includes('--json') && args[0] !== 'completion'),
      tell: note(false),
      // Only terminals receive partial lines.
      part: () => undefined,
      redraw: () => undefined,
      ask: async (question) => {
        const answer = answers.shift() ?? null;
        if (answer !== null) note(false)(`${question}${answer}`);
        return answer;
      },
      exit: (given) => {
        code ||= given;
      },
      onSignal: () => undefined,
      onRejection: () => () => undefined,
    };
    await program(terminal);
    return { said, code };
  }

  /** Runs a serving verb in its own process until the page is done. */
  async #serve(args: readonly string[]): Promise<Outcome> {
    const outcome = await this.#started(args);
    if (args[0] !== 'dev') return outcome;
    // The demo would go on while the page is written. The other commands meet a host without it.
    await Promise.all(this.#hosts.splice(0).map(stopped));
    rmSync(join(this.#cwd, '.cairn'), { recursive: true });
    await this.#started([...args, '--no-demo']);
    return outcome;
  }

  /** The page shows the default port. */
  async #started(args: readonly string[]): Promise<Outcome> {
    const env = {
      PATH: process.env.PATH ?? '',
      CAIRN_PORT: '0',
      ...quickStart,
      CAIRN_KEY: 'a-key-for-this-page-only-of-128-bits-or-more',
    };
    const host = spawn(process.execPath, [bin, ...args], { cwd: this.#cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#hosts.push(host);
    let out = '';
    let err = '';
    const isDone = () => out.includes('\n') && (args[0] !== 'dev' || err.includes('key      in '));
    await new Promise<void>((resolve, reject) => {
      host.stdout.on('data', (chunk) => {
        out += String(chunk);
        if (isDone()) resolve();
      });
      host.stderr.on('data', (chunk) => {
        err += String(chunk);
        if (isDone()) resolve();
      });
      host.once('close', (code) => reject(new Error(`cairn ${args.join(' ')} ended with ${code}: ${err}`)));
    });
    const lines = `${out}${err}`.trimEnd().split('\n');
    return { said: lines.map((text) => ({ text, isForScreen: false })), code: 0 };
  }
}

async function stopped(host: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => host.once('close', resolve));
  host.kill('SIGTERM');
  await ended;
}

/** Splits a command line into words, as a shell does. */
const words = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '');

const runIdIn = (said: readonly Said[]): string | undefined =>
  /run_[0-9a-f-]{36}/.exec(said.map(({ text }) => text).join('\n'))?.[0];

const HEAD = `# Command line

This page shows how to start a host, start and follow runs, answer their questions, and move a run to another host, all from a terminal. A test runs every command and compares its output with this page. Ids, times and sizes are normalised.

In a checkout, the command is \`npx cairn\`, and \`npm start\` is \`cairn dev\`.

## Common rules

A command finds its host in this order:

1. the options \`--url\` and \`--key\`
2. the variables \`CAIRN_URL\` and \`CAIRN_KEY\`
3. a \`cairn dev\` that runs in this folder or in a parent folder
4. \`cairn.json\` in this folder or in a parent folder

A key from a file is sent only to the host of that file. A key from the environment is never sent to another machine that a file names.

Results go to stdout, everything else to stderr. \`--json\` prints the result as one JSON document; \`tail --json\` prints one event per line. With \`--json\`, an error is an [error envelope](../errors/README.md) on stderr. Colours appear only on a screen, and not if \`NO_COLOR\` is set.

| Exit code | Meaning |
|---|---|
| 0 | success |
| 1 | the run failed or was cancelled, or the host did not respond |
| 2 | wrong usage |
| 3 | not found |
| 4 | refused |
| 5 | the run waits for a person |
| 130 | Ctrl-C |
`;
