/**
 * Resolves values kept outside the configuration: secrets in the environment, and the master key in the environment or
 * a file.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { TerminalError, thrownText } from '@cairn/protocol';
import { nearest } from '../../nearest.ts';
import { SecretText } from '../secrets/secret-text.ts';
import type { Environment, HeadersInput } from './fields.ts';
import type { ParsedConfig } from './shape.ts';

export interface MasterKey {
  /** Seals and opens: 32 bytes, base64url. */
  readonly current: SecretText;
  /** Opens what was sealed before the key was rotated. */
  readonly previous?: SecretText | undefined;
}

export type Secrets = ReadonlyMap<string, SecretText>;

export function resolveSecrets(named: ParsedConfig['secrets'], source: string, env: Environment): Secrets {
  const found = Object.entries(named).map(([name, { env: variable, value }]) => {
    const text = value ?? env[variable ?? ''];
    if (text === undefined || text === '') throw notSet(`${source}: secrets.${name}`, variable ?? '');
    return [name, new SecretText(text)] as const;
  });
  return new Map(found);
}

/** A configuration path that refers to a secret. */
interface SecretReference {
  readonly place: string;
  readonly name: string;
}

export function checkSecretNames(config: ParsedConfig, secrets: Secrets, source: string): void {
  for (const { place, name } of secretsNamedBy(config)) {
    if (secrets.has(name)) continue;
    const close = nearest(name, [...secrets.keys()]);
    throw new TerminalError('config_invalid', {
      message: `${source}: ${place} names the secret ${JSON.stringify(name)}, which secrets does not have.`,
      hint: close === null ? 'Add it to secrets.' : `Did you mean ${JSON.stringify(close)}?`,
    });
  }
}

/** A credential of an unconfigured provider could never be used, so it is refused. */
export function checkCredentialProviders({ models, credentials }: ParsedConfig, source: string): void {
  for (const [ref, { provider }] of Object.entries(credentials)) {
    if (Object.hasOwn(models.providers, provider)) continue;
    const close = nearest(provider, Object.keys(models.providers));
    throw new TerminalError('config_invalid', {
      message: `${source}: credentials.${ref}.provider names ${JSON.stringify(provider)}, which models.providers does not have.`,
      hint: close === null ? 'Add it to models.providers.' : `Did you mean ${JSON.stringify(close)}?`,
    });
  }
}

function secretsNamedBy({ models, credentials, signIns, mcp, a2a, otel }: ParsedConfig): readonly SecretReference[] {
  const ofValues = (place: string, headers: HeadersInput) =>
    Object.entries(headers).flatMap(([header, value]) =>
      typeof value === 'string' ? [] : [{ place: `${place}.${header}`, name: value.secret }],
    );
  return [
    ...Object.entries(models.providers).flatMap(([provider, { apiKey, headers }]) => {
      const place = `models.providers.${provider}`;
      const ofKey = apiKey === undefined ? [] : [{ place: `${place}.apiKey`, name: apiKey.secret }];
      return [...ofKey, ...ofValues(`${place}.headers`, headers)];
    }),
    ...Object.entries(credentials).map(([ref, { key }]) => ({ place: `credentials.${ref}.key`, name: key.secret })),
    ...Object.entries(signIns).flatMap(([name, service]) =>
      service.kind === 'oauth2' && service.clientSecret !== undefined
        ? [{ place: `signIns.${name}.clientSecret`, name: service.clientSecret.secret }]
        : [],
    ),
    ...mcp.servers.flatMap(({ headers, env }, i) => [
      ...ofValues(`mcp.servers[${i}].headers`, headers),
      ...ofValues(`mcp.servers[${i}].env`, env),
    ]),
    ...a2a.peers.flatMap(({ headers }, i) => ofValues(`a2a.peers[${i}].headers`, headers)),
    ...(otel === undefined ? [] : ofValues('otel.headers', otel.headers)),
  ];
}

/** Resolves the values of headers, or of variables. All of them are unprintable, whether or not they come from a secret. */
export function resolveHeaders(headers: HeadersInput, secrets: Secrets): Readonly<Record<string, SecretText>> {
  const values = Object.entries(headers).map(([header, value]) => {
    return [header, typeof value === 'string' ? new SecretText(value) : secretValue(value, secrets)] as const;
  });
  return Object.fromEntries(values);
}

/** The redactor knows a secret without its prefix, so that it also finds a token that is repeated alone. */
function secretValue({ secret, prefix }: Exclude<HeadersInput[string], string>, secrets: Secrets): SecretText {
  const text = secrets.get(secret) ?? new SecretText('');
  return prefix === undefined ? text : new SecretText(`${prefix}${text.reveal()}`);
}

type KeySource = { readonly env?: string | undefined; readonly file?: string | undefined };

export function readMasterKey(
  key: NonNullable<ParsedConfig['masterKey']>,
  source: string,
  env: Environment,
): MasterKey {
  const where = `${source}: masterKey`;
  const current = readKey(key, where, env);
  if (key.previous === undefined) return { current };
  return { current, previous: readKey(key.previous, `${where}.previous`, env) };
}

function readKey({ env: variable, file }: KeySource, where: string, env: Environment): SecretText {
  const text = file === undefined ? env[variable ?? ''] : readOwnersFile(file, where);
  if (text === undefined || text === '') throw notSet(where, variable ?? '');
  const bytes = keyBytes(text.trim());
  if (bytes !== null) return new SecretText(bytes.toString('base64url'));
  throw new TerminalError('config_invalid', {
    message: `${where}: ${file ?? 'its environment variable'} does not hold 32 bytes as base64 or hex.`,
    hint: 'Make a key with "cairn key".',
  });
}

function keyBytes(text: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return null;
}

/** Reads mode and content through one descriptor, so that the file cannot be swapped in between. */
function readOwnersFile(file: string, where: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    throw new TerminalError('config_invalid', {
      message: `${where}: ${file} cannot be read: ${thrownText(cause)}.`,
      hint: 'Check the path; the file must be readable by the user the host runs as.',
      cause,
    });
  }
  try {
    const mode = fstatSync(descriptor).mode & 0o777;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new TerminalError('config_invalid', {
        message: `${where}: ${file} has mode ${mode.toString(8).padStart(4, '0')}: others than its owner may read or change it.`,
        hint: `Run "chmod 600 ${file}".`,
      });
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A user may have written the secret in place of a variable name. The message repeats only text that looks like a
 * variable.
 */
export function notSet(where: string, variable: string, reason = 'is not set'): TerminalError {
  const shown = /^[A-Z_][A-Z0-9_]*$/.test(variable) ? variable : 'that it names';
  return new TerminalError('config_invalid', {
    message: `${where}: the environment variable ${shown} ${reason}.`,
    hint: 'Set it before starting the host.',
  });
}
