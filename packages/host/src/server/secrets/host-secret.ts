/**
 * The host's root secret, from which all signing and sealing keys are derived. The operator provides it, or the host
 * creates it in the data folder.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCairnError, TerminalError, thrownText } from '@cairn/protocol';
import type { FolderFacts } from '../../log/sqlite/folder-facts.ts';
import { thrownCode } from '../../thrown-code.ts';
import type { MasterKey } from '../config/secrets.ts';
import { SecretText } from './secret-text.ts';

/** Derives the keys for a purpose. The first signs and seals; all of them verify and open. */
export type DeriveKeys = (purpose: string) => Keys;

export type Keys = readonly [current: Buffer, ...earlier: Buffer[]];

/** The purpose of the keys that sign checkpoints. */
export const CHECKPOINT_KEYS = 'checkpoint';

const FILE = 'host.key';
const KEY_BYTES = 32;

export interface SecretSources {
  readonly masterKey?: MasterKey | undefined;
  /** The data folder; null for a host that stores nothing on disk. */
  readonly folder: string | null;
}

export function hostSecret({ masterKey, folder }: SecretSources): DeriveKeys {
  if (masterKey === undefined) return deriveFrom([folder === null ? randomBytes(KEY_BYTES) : folderKey(folder)]);
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  const { current, previous } = masterKey;
  // The folder's key still opens what it sealed before the operator provided a key.
  const earlier = folder === null ? null : readKey(join(folder, FILE));
  return deriveFrom([
    bytes(current.reveal()),
    ...(previous === undefined ? [] : [bytes(previous.reveal())]),
    ...(earlier === null ? [] : [earlier]),
  ]);
}

/** The key in the data folder, for redaction; null when there is none. */
export function folderSecret(folder: string | null): SecretText | null {
  const key = folder === null ? null : readKey(join(folder, FILE));
  return key === null ? null : new SecretText(key.toString('base64url'));
}

/**
 * Refuses a data folder whose key is gone or was replaced, and creates the key of a new folder. Without this check a host
 * would sign with a new key and find every sealed secret unreadable.
 */
export async function checkFolderKey(sources: SecretSources & { readonly folder: string }, facts: FolderFacts) {
  const { masterKey, folder } = sources;
  const file = join(folder, FILE);
  const known = await facts.keyId();
  let key = readKey(file);
  if (key === null) {
    if (masterKey !== undefined) return;
    if (known !== null || (await facts.hasLocalRuns())) throw keyLost(file, 'is missing');
    key = folderKey(folder);
  }
  const [id] = deriveFrom([key])('key id').map((derived) => derived.toString('base64url'));
  if (id === undefined || id === known) return;
  if (known !== null) throw keyLost(file, 'is not the key that this database was used with');
  await facts.saveKeyId(id);
}

/** Refuses a node whose master key is not that of the others. `facts` are those of a database that nodes share. */
export async function checkSharedKey(
  masterKey: MasterKey | undefined,
  facts: Pick<FolderFacts, 'keyId' | 'saveKeyId'>,
): Promise<void> {
  if (masterKey === undefined) {
    throw new TerminalError('config_invalid', {
      message: 'A host on PostgreSQL needs a masterKey, which all nodes share.',
      hint: 'Set CAIRN_MASTER_KEY to 32 random bytes in base64url, the same on every node: "openssl rand -base64 32 | tr +/ -_ | tr -d =".',
    });
  }
  const idOf = (key: SecretText): string =>
    deriveFrom([Buffer.from(key.reveal(), 'base64url')])('key id')[0].toString('base64url');
  const known = await facts.keyId();
  const id = idOf(masterKey.current);
  if (known === id) return;
  const isRotated = masterKey.previous !== undefined && known === idOf(masterKey.previous);
  if (known !== null && !isRotated) {
    throw new TerminalError('host_key_lost', {
      message: 'The masterKey is not the one that this database is used with.',
      hint: 'Give every node the same key. To replace it, give the old one as masterKey.previous.',
    });
  }
  await facts.saveKeyId(id);
}

const keyLost = (file: string, state: string): TerminalError =>
  new TerminalError('host_key_lost', {
    message: `${file} ${state}, but the database beside it has runs of a host.`,
    hint: 'Restore the file from a backup. If it is lost for good, configure a new key as masterKey and remove a wrong host.key: webhook secrets and tokens of the old key stay lost. "cairn doctor" checks a folder.',
    details: { file },
  });

const deriveFrom =
  ([current, ...earlier]: Keys): DeriveKeys =>
  (purpose) => {
    const derive = (secret: Buffer) => Buffer.from(hkdfSync('sha256', secret, '', `cairn/${purpose}`, KEY_BYTES));
    return [derive(current), ...earlier.map(derive)];
  };

function folderKey(folder: string): Buffer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, FILE);
  const known = readKey(file);
  if (known !== null) return known;
  const fresh = randomBytes(KEY_BYTES);
  // This process holds the folder lock; `wx` only prevents overwriting an existing key.
  writeFileSync(file, `${fresh.toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(file, 0o600);
  return fresh;
}

function readKey(file: string): Buffer | null {
  let text: string;
  try {
    const mode = statSync(file).mode & 0o777;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw readableByOthers(file, mode);
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isCairnError(error)) throw error;
    if (thrownCode(error) !== 'ENOENT') throw cannotRead(file, error);
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return null;
    throw leadsNowhere(file, error);
  }
  const key = Buffer.from(text, 'base64url');
  if (key.length === KEY_BYTES) return key;
  throw new TerminalError('config_invalid', {
    message: `${file} does not hold a key of ${KEY_BYTES} bytes.`,
    hint: 'Restore it from a backup. Without it, secrets of webhooks are lost: remove the file and the webhooks to start afresh.',
  });
}

/** Creating a new key behind a dangling link would hide that the intended key is missing. */
const leadsNowhere = (file: string, cause: unknown): TerminalError =>
  new TerminalError('config_invalid', {
    message: `${file} is a link to a file that is not there.`,
    hint: 'Bring back the file it leads to, for example by mounting its volume; or remove the link, and a new key is made.',
    cause,
  });

const cannotRead = (file: string, cause: unknown): TerminalError =>
  new TerminalError('config_invalid', {
    message: `${file} cannot be read: ${thrownText(cause)}.`,
    hint: 'It has to be a file that the user of the host may read.',
    cause,
  });

const readableByOthers = (file: string, mode: number): TerminalError =>
  new TerminalError('config_invalid', {
    message: `${file} has mode ${mode.toString(8).padStart(4, '0')}: others than its owner may read or change it.`,
    hint: `Run "chmod 600 ${file}".`,
  });
