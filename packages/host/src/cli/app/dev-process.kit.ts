/** `cairn dev FILE` in a process of its own, because a test runner imports modules in its own way. Not shipped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '@cairn/client';
import { onTestFinished } from 'vitest';
import { quickStart } from '../../../test/kit/quick-start.ts';
import { readHostNote } from '../host-file.ts';

const root = join(import.meta.dirname, '../../../../..');
const bin = join(root, 'packages/host/bin/cairn.mjs');

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'cairn-dev-'));

  constructor(files: Readonly<Record<string, string>>) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    this.write({ 'package.json': '{ "type": "module" }', ...files });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      const file = join(this.folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

export class DevProcess {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<number | null>;
  #seen = 0;
  #wake = Promise.withResolvers<void>();

  constructor({ folder }: Project, args: readonly string[]) {
    this.#folder = folder;
    const env = { HOME: folder, ...quickStart };
    const child = spawn(process.execPath, [bin, 'dev', '--port', '0', ...args], { cwd: folder, env });
    this.#process = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => this.#add(line));
    void this.#ended.then(() => this.#add('(ended)'));
    onTestFinished(() => this.stop('SIGKILL').then(() => undefined));
  }

  /** The next line that matches; lines before it are skipped. */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const line = this.#lines[this.#seen];
      if (line === undefined) await this.#wake.promise;
      else {
        this.#seen += 1;
        if (pattern.test(line)) return line;
        if (line === '(ended)') throw new Error(`It ended without ${pattern}:\n${this.#lines.join('\n')}`);
      }
    }
  }

  /** All that it said, up to the next line that matches. */
  async until(pattern: RegExp): Promise<string> {
    await this.line(pattern);
    return this.#lines.slice(0, this.#seen).join('\n');
  }

  async ready(): Promise<Client> {
    await this.line(/^try it/);
    return this.client();
  }

  client(person?: string): Client {
    const note = readHostNote(join(this.#folder, '.cairn'));
    const key = person === undefined ? note?.key : note?.people?.[person];
    return createClient({ url: note?.url ?? '', key: key ?? '' });
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    this.#process.kill(signal);
    return this.#ended;
  }

  get exit(): Promise<number | null> {
    return this.#ended;
  }

  #add(line: string): void {
    this.#lines.push(line);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}
