/** `cairn key`: a new random key for `keys`, `secrets` or `masterKey` of a host. */
import { hash, randomBytes } from 'node:crypto';
import { exit } from './exit.ts';
import { jsonLine } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface KeyFlags {
  readonly json?: boolean;
}

/** 256 bits: it cannot be guessed, and it is as long as `masterKey` must be. */
const KEY_BYTES = 32;

export function makeKey(terminal: Terminal, flags: KeyFlags): number {
  let key = '-';
  // A leading dash would read as an option.
  while (key.startsWith('-')) key = randomBytes(KEY_BYTES).toString('base64url');
  const sha256 = hash('sha256', key, 'hex');
  if (flags.json === true) terminal.print(jsonLine({ key, sha256 }));
  else {
    terminal.print(key);
    terminal.tell('Give the key to its caller. cairn.json needs only its hash:');
    terminal.tell(`  ${jsonLine({ keys: [{ sha256, tenant: 'TENANT' }] })}`);
  }
  return exit.ok;
}
