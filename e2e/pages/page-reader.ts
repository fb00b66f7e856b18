/** Follows a guide as a reader would: writes its files, types its commands, compares what they print. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { quickStart } from '../../packages/host/test/kit/quick-start.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const bin = join(root, 'packages/host/bin/cairn.mjs');

export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

/** The code blocks of a page of `docs/guides`. */
export const guideBlocks = (name: string): readonly Block[] => {
  const page = readFileSync(join(root, 'docs/guides', name), 'utf8');
  return [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```/gm)].map(([, language = '', file, text = '']) => ({
    language,
    file,
    text,
  }));
};

/** `…` on a line of its own is any number of lines, elsewhere any text on the line. */
export const pattern = (text: string): RegExp => {
  const lines = text.trimEnd().split('\n');
  const parts = lines.map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}\\n`,
  );
  return new RegExp(`^${parts.join('')}$`);
};

/** One host that the reader started. */
interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  /** Resolves when the host prints a line that contains the text. */
  saying(text: string): Promise<void>;
}

export class Reader {
  readonly #above = mkdtempSync(join(tmpdir(), 'cairn-guide-'));
  /** Addresses on the page, and where those hosts really are. */
  readonly #addresses = new Map<string, string>();
  readonly #hosts: Started[] = [];
  #folder = join(this.#above, 'start');
  #env: Record<string, string> = {};
  #said = '';

  constructor() {
    mkdirSync(this.#folder);
    this.#install();
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "module" }');
  }

  get folder(): string {
    return this.#folder;
  }

  async follow({ language, file, text }: Block): Promise<void> {
    if (language === 'text') expect(this.#said).toMatch(pattern(text));
    else if (file !== undefined) await this.#write(file, text);
    else for (const line of text.trim().split('\n')) await this.#type(line);
  }

  async leave(): Promise<void> {
    for (const { process, ended } of this.#hosts) {
      process.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#above, { recursive: true, force: true });
  }

  /** The packages of this checkout, in place of the tarballs that npm would need a network for. */
  #install(): void {
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  async #write(file: string, text: string): Promise<void> {
    const path = join(this.#folder, file);
    const isProgram = file === 'app.ts' && existsSync(path);
    mkdirSync(dirname(path), { recursive: true });
    const reloaded = isProgram ? this.#hosts.at(-1)?.saying('app.ts reloaded') : undefined;
    writeFileSync(path, text.replace('port: 4701', 'port: 0'));
    await reloaded;
  }

  async #type(line: string): Promise<void> {
    const [, variable, inner] = /^(\w+)=\$\((.*)\)$/.exec(line) ?? [];
    if (variable !== undefined && inner !== undefined) {
      await this.#command(`${inner} 2>/dev/null`);
      this.#env[variable] = this.#said.trim();
    } else if (!(await this.#special(line))) await this.#command(`${line} 2>&1`);
  }

  /** Commands that this test performs in its own way. */
  async #special(line: string): Promise<boolean> {
    if (line === 'npx cairn dev') await this.#serve([bin, 'dev', '--port', '0'], 'http://127.0.0.1:4700');
    else if (line === 'npm run dev') await this.#serve([bin, ...this.#script('dev'), '--port', '0'], '');
    else if (line.startsWith('npx node ')) await this.#serve(line.split(' ').slice(2), 'http://127.0.0.1:4701');
    else if (line === 'npm install') this.#install();
    else if (line.startsWith('cd ')) this.#folder = resolve(this.#folder, line.slice(3).replace('~', this.#above));
    else if (line.startsWith('export ')) this.#export(line);
    else if (line.startsWith('kill -9 ')) {
      await this.#command(line);
      await this.#hosts.pop()?.ended;
    } else return line === 'npm run pack:local';
    return true;
  }

  #export(line: string): void {
    for (const [, name = '', value = ''] of line.matchAll(/(\w+)=(\S+)/g)) {
      this.#env[name] = this.#addresses.get(value) ?? value;
    }
  }

  /** The arguments of `cairn` in a script of the project. */
  #script(name: string): readonly string[] {
    const { scripts } = JSON.parse(readFileSync(join(this.#folder, 'package.json'), 'utf8'));
    return String(scripts[name]).split(' ').slice(1);
  }

  async #command(line: string): Promise<void> {
    const command = line.replace('npx cairn', `node "${bin}"`);
    const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
    // Programs that a command starts use the sources, as the command itself does.
    const NODE_OPTIONS = `--conditions=@cairn/source ${quickStart.NODE_OPTIONS ?? ''}`;
    const env = { PATH, HOME: this.#above, ...quickStart, NODE_OPTIONS, ...this.#env };
    const { stdout } = await run('sh', ['-c', command], { cwd: this.#folder, env }).catch(
      (error: { readonly stdout: string; readonly stderr: string }) =>
        expect.fail(`${line}\n${error.stdout}${error.stderr}`),
    );
    this.#said = stdout;
  }

  async #serve(args: readonly string[], shown: string): Promise<void> {
    const child = spawn(process.execPath, [...args], { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const lines = createInterface(child.stderr);
    const ended = new Promise((resolve) => child.once('close', resolve));
    const saying = (text: string): Promise<void> =>
      new Promise((resolve) => lines.on('line', (line) => line.includes(text) && resolve()));
    this.#hosts.push({ process: child, ended, saying });
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).once('line', (line) => resolve(line.replace('cairn ready ', '')));
      child.once('close', (code) => reject(new Error(`${args.join(' ')} ended with ${code} before it served.`)));
    });
    this.#addresses.set(shown, url);
    // Other commands find the host through a file that it writes once it is ready.
    if (args.includes('dev')) await saying('try it');
  }
}
