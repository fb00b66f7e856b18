/** `cairn pack init`, `lint`, `sign` and `verify`: create and check packs without a host. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isCairnError, quoted } from '@cairn/protocol';
import { lintPack } from '../agents/packs/check-pack.ts';
import { MANIFEST, type PackFiles } from '../agents/packs/pack-files.ts';
import { newSigningKey, publicKeyOf, signatureFiles, signerOf, type TrustedKey } from '../agents/packs/signature.ts';
import { errorText } from './error-text.ts';
import { exit } from './exit.ts';
import { upward } from './find-host.ts';
import { readPack } from './pack-files.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

interface JsonFlag {
  readonly json?: boolean;
}

export interface InitFlags extends JsonFlag {
  readonly name?: string;
}

/** Creates a pack that can be installed as it is, in a folder without a `pack.json`. */
export async function initPack(terminal: Terminal, folder: string, flags: InitFlags): Promise<number> {
  const path = resolve(terminal.cwd, folder);
  if (existsSync(join(path, MANIFEST))) {
    throw usageError(`${join(path, MANIFEST)} already exists.`, 'Choose another folder, or edit the existing pack.');
  }
  const name = flags.name ?? `local.${word(basename(dirname(path)))}.${word(basename(path))}`;
  const files = newPack(name);
  // Before writing anything, because the name may be invalid.
  const { manifest } = lintPack(files);
  for (const [file, content] of files) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content, { flag: 'wx' });
  }
  if (flags.json === true) terminal.print(jsonLine({ name: manifest.name, folder: path }));
  else {
    terminal.print(`${done(terminal)} created ${manifest.name} ${manifest.version} in ${path}`);
    terminal.tell(`  edit it, then run: cairn pack lint ${folder} && cairn pack add ${folder}`);
  }
  return exit.ok;
}

/** Turns the name of a folder into a segment of a pack name. */
const word = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+/, '') || 'my';

const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

const newPack = (name: string): PackFiles =>
  new Map([
    [
      MANIFEST,
      json({
        name,
        version: '0.1.0',
        description: 'A pack with one agent.',
        engines: { openwop: '>=1.0 <2.0.0' },
        runtime: { language: 'remote', entry: 'none' },
        agents: [
          {
            agentId: `${name}.helper`,
            persona: 'Helper',
            description: 'Answers a question in a few sentences.',
            modelClass: 'general',
            systemPromptRef: 'prompts/helper.md',
            toolAllowlist: [],
            handoff: { taskSchemaRef: 'schemas/helper-task.json' },
            confidence: { defaultThreshold: 0.7 },
          },
        ],
      }),
    ],
    [
      'prompts/helper.md',
      Buffer.from('You answer questions in a few plain sentences. When you do not know, say so.\n'),
    ],
    [
      'schemas/helper-task.json',
      json({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        required: ['question'],
        properties: { question: { type: 'string', minLength: 1 } },
      }),
    ],
  ]);

export async function lint(terminal: Terminal, name: string, flags: JsonFlag): Promise<number> {
  const { manifest, hash } = lintPack((await readPack(terminal, name)).files);
  const agents = (manifest.agents ?? []).map(({ agentId }) => agentId);
  if (flags.json === true) {
    terminal.print(jsonLine({ name: manifest.name, version: manifest.version, hash, agents }));
  } else {
    terminal.print(`${done(terminal)} ${manifest.name} ${manifest.version}: no problems found`);
    for (const agentId of agents) terminal.print(`  ${agentId}`);
  }
  return exit.ok;
}

export interface SignFlags extends JsonFlag {
  readonly key: string;
  readonly keyId: string;
  /** Create the key first. */
  readonly newKey?: boolean;
}

/** Signs a folder. An archive cannot be signed, because the signature adds two files. */
export async function signPack(terminal: Terminal, folder: string, flags: SignFlags): Promise<number> {
  const { files, folder: path } = await readPack(terminal, folder);
  if (path === null) throw usageError(`${folder} is an archive.`, 'Sign the folder, then create the archive again.');
  const { manifest } = lintPack(files);
  const pem = keyText(resolve(terminal.cwd, flags.key), flags.newKey === true);
  for (const [file, content] of signatureFiles(files, flags.keyId, pem)) writeFileSync(join(path, file), content);
  const trusted: TrustedKey = { keyId: flags.keyId, publicKey: publicKeyOf(pem) };
  if (flags.json === true) terminal.print(jsonLine({ name: manifest.name, ...trusted }));
  else {
    terminal.print(`${done(terminal)} ${manifest.name} ${manifest.version} is signed by ${safe(flags.keyId)}`);
    terminal.print('  add this to packs.trust of each host that should accept it:');
    terminal.print(`  ${jsonLine(trusted)}`);
  }
  return exit.ok;
}

function keyText(file: string, isNew: boolean): string {
  if (isNew) {
    const { privateKeyPem } = newSigningKey();
    try {
      writeFileSync(file, privateKeyPem, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw usageError(`The key cannot be written: ${errorText(error)}.`, 'Omit --new-key to use the existing key.');
    }
    return privateKeyPem;
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(
      `The key cannot be read: ${errorText(error)}.`,
      'Pass it with --key, or create one with --new-key.',
    );
  }
}

export interface VerifyPackFlags extends JsonFlag {
  /** `<keyId>=<publicKey>`. Default: the keys of `cairn.json` here or in a parent folder. */
  readonly trust?: readonly string[];
}

/** Checks the signature as a host that trusts these keys would. */
export async function verifyPack(terminal: Terminal, name: string, flags: VerifyPackFlags): Promise<number> {
  const trust = flags.trust?.map(trustedKey) ?? configuredTrust(terminal);
  const { files } = await readPack(terminal, name);
  try {
    const signedBy = signerOf(files, { trust, allowUnsigned: false });
    if (flags.json === true) terminal.print(jsonLine({ ok: true, signedBy, files: files.size, problem: null }));
    else terminal.print(`${done(terminal)} ${safe(name)}: ${files.size} files, signed by ${safe(signedBy ?? '')}`);
    return exit.ok;
  } catch (error) {
    if (!isCairnError(error, 'pack_signature_invalid') && !isCairnError(error, 'pack_integrity_failure')) throw error;
    const problem = error.message;
    if (flags.json === true) terminal.print(jsonLine({ ok: false, signedBy: null, files: files.size, problem }));
    else terminal.print(`${styleOf(terminal.colours.out).red('✗')} ${safe(name)}: ${safe(problem)}`);
    return exit.failed;
  }
}

function trustedKey(text: string): TrustedKey {
  const [, keyId, publicKey] = /^(.+)=([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  if (keyId !== undefined && publicKey !== undefined) return { keyId, publicKey };
  throw usageError(
    `${quoted(text, 80)} is not a valid key.`,
    'Use --trust KEYID=PUBLICKEY, with the values that "cairn pack sign" prints.',
  );
}

function configuredTrust(terminal: Terminal): readonly TrustedKey[] {
  for (const folder of upward(terminal.cwd)) {
    const file = join(folder, 'cairn.json');
    if (!existsSync(file)) continue;
    return trustIn(file);
  }
  return [];
}

function trustIn(file: string): readonly TrustedKey[] {
  let config: { readonly packs?: { readonly trust?: unknown } } | null = null;
  try {
    config = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The parser's message may quote a key, so it is not shown.
    throw usageError(`${file} cannot be read, or is not JSON.`, '"cairn doctor" shows what is wrong with it.');
  }
  const trust = config?.packs?.trust;
  const entries: readonly (Partial<TrustedKey> | null)[] = Array.isArray(trust) ? trust : [];
  return entries.map((entry) => trustedKey(`${entry?.keyId}=${entry?.publicKey}`));
}

const done = (terminal: Terminal): string => styleOf(terminal.colours.out).green('✓');
