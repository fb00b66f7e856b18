/** Does what the guide to the first agent says, in its order: writes its files, types its commands, compares what they print. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../packages/host/src/server/config/config.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const bin = join(root, 'packages/host/bin/cairn.mjs');

interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

const page = readFileSync(join(root, 'docs/guides/first-agent.md'), 'utf8');
const blocks: readonly Block[] = [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```/gm)].map(
  ([, language = '', file, text = '']) => ({ language, file, text }),
);

/** `…` on a line of its own is any number of lines, elsewhere any text on the line. */
const pattern = (text: string): RegExp => {
  const lines = text.trimEnd().split('\n');
  const parts = lines.map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}\\n`,
  );
  return new RegExp(`^${parts.join('')}$`);
};

/** Somebody who follows the page in one folder. */
class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), 'cairn-guide-'));
  readonly hosts: ChildProcess[] = [];
  /** Addresses on the page, and where those hosts really are. */
  readonly #addresses = new Map<string, string>();
  #env: Record<string, string> = {};
  #said = '';

  constructor() {
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    writeFileSync(join(this.folder, 'package.json'), '{ "type": "module" }');
  }

  async follow({ language, file, text }: Block): Promise<void> {
    if (language === 'text') expect(this.#said).toMatch(pattern(text));
    else if (file !== undefined) this.#write(file, text);
    else for (const line of text.trim().split('\n')) await this.#type(line);
  }

  async leave(): Promise<void> {
    for (const host of this.hosts) {
      const ended = new Promise((resolve) => host.once('close', resolve));
      host.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #write(file: string, text: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text.replace('port: 4701', 'port: 0'));
  }

  async #type(line: string): Promise<void> {
    if (line === 'npx cairn dev') return this.#serve([bin, 'dev', '--port', '0'], 'http://127.0.0.1:4700');
    if (line.startsWith('npx node ')) return this.#serve(line.split(' ').slice(2), 'http://127.0.0.1:4701');
    if (line.startsWith('export ')) {
      for (const [, name = '', value = ''] of line.matchAll(/(\w+)=(\S+)/g)) {
        this.#env[name] = this.#addresses.get(value) ?? value;
      }
      return;
    }
    const command = `${line.replace('npx cairn', `"${process.execPath}" "${bin}"`)} 2>&1`;
    const env = { PATH: process.env.PATH ?? '', ...this.#env };
    const { stdout } = await run('sh', ['-c', command], { cwd: this.folder, env }).catch(
      (error: { readonly stdout: string }) => expect.fail(`${line}\n${error.stdout}`),
    );
    this.#said = stdout;
  }

  async #serve(args: readonly string[], shown: string): Promise<void> {
    const host = spawn(process.execPath, [...args], { cwd: this.folder, stdio: ['ignore', 'pipe', 'ignore'] });
    this.hosts.push(host);
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(host.stdout).once('line', (line) => resolve(line.replace('cairn ready ', '')));
      host.once('close', (code) => reject(new Error(`${args.join(' ')} ended with ${code} before it served.`)));
    });
    this.#addresses.set(shown, url);
  }
}

test('the guide works as it is written', async () => {
  const reader = new Reader();
  onTestFinished(() => reader.leave());
  for (const block of blocks) await reader.follow(block);
  expect(blocks.filter(({ language }) => language === 'text')).toHaveLength(3);
}, 90_000);

test('the configuration of the guide is one', () => {
  const { text = '' } = blocks.find(({ file }) => file === 'cairn.json') ?? {};
  const config = parseConfig(JSON.parse(text), 'cairn.json', { CAIRN_KEY: 'a-key-for-this-guide' });
  expect(config.models.default).toBe('local/your-model');
});

test('the program of the guide has no type error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'desk.ts'), blocks.find(({ file }) => file === 'desk.ts')?.text ?? '');
  const config = {
    extends: join(root, 'tsconfig.check.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: ['desk.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'], { cwd: folder }).catch(({ stdout }) =>
    expect.fail(String(stdout)),
  );
}, 60_000);
