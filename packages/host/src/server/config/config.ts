/**
 * The validated configuration that the host uses. Access keys are present only as hashes, secrets only as unprintable
 * `SecretText`.
 */
import { quoted, TerminalError } from '@cairn/protocol';
import type { z } from 'zod';
import { type AccessKey, keyHash } from '../access/auth.ts';
import { SecretText } from '../secrets/secret-text.ts';
import type { JwtConfig } from './access.ts';
import type { Environment } from './fields.ts';
import { type KnownText, knownSecrets, storePasswords } from './known-secrets.ts';
import { configInvalid } from './refusal.ts';
import {
  checkCredentialProviders,
  checkSecretNames,
  type MasterKey,
  notSet,
  readMasterKey,
  resolveHeaders,
  resolveSecrets,
} from './secrets.ts';
import { configShape, type ParsedConfig } from './shape.ts';
import { refuseWeak, type WeakSecret, weakSecrets } from './weak-secrets.ts';

/** The configuration as written in `cairn.json`. */
export type ConfigInput = z.input<typeof configShape>;
export type { JwtConfig, LimitsConfig } from './access.ts';
export type { Environment } from './fields.ts';

export interface OtelConfig extends Omit<NonNullable<ParsedConfig['otel']>, 'headers'> {
  readonly headers: Readonly<Record<string, SecretText>>;
}

export interface HostConfig
  extends Omit<ParsedConfig, '$schema' | 'keys' | 'jwt' | 'secrets' | 'masterKey' | 'otel' | 'store' | 'storeListen'> {
  readonly keys: readonly AccessKey[];
  readonly jwt?: JwtConfig | undefined;
  readonly secrets: ReadonlyMap<string, SecretText>;
  readonly masterKey?: MasterKey | undefined;
  readonly otel?: OtelConfig | undefined;
  /** URLs of a PostgreSQL database, with the password. */
  readonly store?: SecretText | undefined;
  readonly storeListen?: SecretText | undefined;
  /** Every secret whose value is known, with the name to show instead. */
  readonly knownSecrets: readonly KnownText[];
  /** Keys and secrets that can be guessed. Only a loopback address in `bind` allows them. */
  readonly weakSecrets: readonly WeakSecret[];
  /** Configured keys that this version does not use, and variables that look like a misspelt key. */
  readonly unused: readonly string[];
}

/** Validates a configuration. `source` tells the reader where to look, e.g. the file name. */
export function parseConfig(input: unknown, source: string, env: Environment = {}): HostConfig {
  const shaped = checkedShape(input, source);
  const { $schema: _, keys, secrets: named, masterKey, otel, store, storeListen, ...config } = shaped;
  if (config.conformance && !isLoopback(config.bind)) {
    throw new TerminalError('config_invalid', {
      message: `${source}: conformance is on and bind is ${config.bind}, which others can reach.`,
      hint: 'Bind to 127.0.0.1, or switch conformance off.',
    });
  }
  const secrets = resolveSecrets(named, source, env);
  checkSecretNames(shaped, secrets, source);
  checkCredentialProviders(shaped, source);
  const keyTexts = keys.map((key, i) => keyText(key, `${source}: keys[${i}]`, env));
  const master = masterKey === undefined ? undefined : readMasterKey(masterKey, source, env);
  const weak = weakSecrets(secrets, keyTexts);
  if (!isLoopback(config.bind)) refuseWeak(weak, config.bind, source);
  return {
    ...config,
    weakSecrets: weak,
    keys: accessKeys(keys, keyTexts, source).map(answering(config.peers)),
    secrets,
    knownSecrets: [
      ...knownSecrets({ secrets, keys: keyTexts, masterKey: master }, source),
      ...storePasswords([store, storeListen]),
    ],
    unused: [],
    ...(master === undefined ? {} : { masterKey: master }),
    ...(store === undefined ? {} : { store: new SecretText(store) }),
    ...(storeListen === undefined ? {} : { storeListen: new SecretText(storeListen) }),
    ...(otel === undefined ? {} : { otel: { ...otel, headers: resolveHeaders(otel.headers, secrets) } }),
  };
}

/** Checks everything that does not depend on the environment: the values of variables may be known to the host alone. */
export function checkedShape(input: unknown, source: string): ParsedConfig {
  const result = configShape.safeParse(input, { reportInput: true });
  if (!result.success) throw configInvalid(result.error.issues, source);
  checkPeers(result.data, source);
  return result.data;
}

/** True for an address that only this machine can reach. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);

type KeyInput = ParsedConfig['keys'][number];
type KeyText = string | undefined;

/** Each key belongs to one caller. A key listed twice would make its owner depend on the order, so it is refused. */
function accessKeys(listed: readonly KeyInput[], texts: readonly KeyText[], source: string): readonly AccessKey[] {
  const keys = listed.map((key, i) => accessKey(key, texts[i]));
  const first = keys.findIndex(({ sha256 }, i) => keys.slice(i + 1).some((other) => other.sha256 === sha256));
  if (first === -1) return keys;
  const again = keys.findLastIndex(({ sha256 }) => sha256 === keys[first]?.sha256);
  throw new TerminalError('config_invalid', {
    message: `${source}: keys[${again}]: this is the same key as keys[${first}].`,
    hint: 'Make another one: "cairn key".',
  });
}

const accessKey = ({ sha256, tenant, principal, scopes: held, toolScopes, peer }: KeyInput, text = ''): AccessKey => ({
  sha256: sha256 ?? keyHash(text),
  tenant,
  // The log says who answered. Without a name, a host would be the same caller as all other keys without one.
  principal: principal ?? peer,
  scopes: held,
  toolScopes,
  peer,
  ...(sha256 === undefined ? {} : { isOnlyHash: true }),
});

/** A key of a host whose answers count as those of users. */
const answering =
  (peers: ParsedConfig['peers']) =>
  (key: AccessKey): AccessKey => {
    const trusted = peers.some(({ hostId, answersForUsers }) => answersForUsers && hostId === key.peer);
    return trusted ? { ...key, answersForUsers: true } : key;
  };

/** The plain key; undefined when only its hash is given. */
function keyText({ sha256, key, keyEnv = '' }: KeyInput, where: string, env: Environment): KeyText {
  return sha256 === undefined ? (key ?? keyFromEnv(keyEnv, where, env)) : undefined;
}

function keyFromEnv(variable: string, where: string, env: Environment): string {
  const key = env[variable];
  if (key !== undefined && key.length >= 16) return key;
  throw notSet(where, variable, key === undefined ? 'is not set' : 'is shorter than 16 characters');
}

/** A key of a host that is not listed would be a mistyped name, and its statements would be ignored. */
function checkPeers({ keys, peers }: ParsedConfig, source: string): void {
  const known = new Set(peers.map(({ hostId }) => hostId));
  for (const [i, { peer }] of keys.entries()) {
    if (peer === undefined || known.has(peer)) continue;
    throw new TerminalError('config_invalid', {
      message: `${source}: keys[${i}].peer: ${quoted(peer, 140)} is none of the hosts in peers.`,
      hint: `Add { "hostId": ${JSON.stringify(peer)}, "url": "https://..." } to peers.`,
    });
  }
}
