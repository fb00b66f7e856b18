/** Collects the secret values that the host knows from its configuration, so that they can be redacted from the log. */
import { TerminalError } from '@cairn/protocol';
import { unredactable } from '../../redaction/markers.ts';
import { SecretText } from '../secrets/secret-text.ts';
import type { MasterKey, Secrets } from './secrets.ts';

export interface KnownText {
  /** The name shown in place of the value. */
  readonly name: string;
  readonly text: SecretText;
}

export interface SecretOrigins {
  readonly secrets: Secrets;
  /** A key that is given as a hash has no known value. */
  readonly keys: readonly (string | undefined)[];
  readonly masterKey: MasterKey | undefined;
}

/** Throws `config_invalid` for a value that cannot be told apart from ordinary text. */
export function knownSecrets({ secrets, keys, masterKey }: SecretOrigins, source: string): readonly KnownText[] {
  const named = [...secrets].map(([name, text]) => ({ name, text, place: `secrets.${name}` }));
  const ofKeys = keys.flatMap((key, i) =>
    key === undefined ? [] : [{ name: `keys.${i}`, text: new SecretText(key), place: `keys[${i}]` }],
  );
  const { current, previous } = masterKey ?? {};
  const masters = [
    ...(current === undefined ? [] : keySpellings('masterKey', current)),
    ...(previous === undefined ? [] : keySpellings('masterKey.previous', previous)),
  ].map((known) => ({ ...known, place: known.name }));
  const all = [...named, ...ofKeys, ...masters];
  const unfit = unredactable(all.map(({ name, text }) => ({ name, value: text.reveal() })));
  if (unfit === null) return all.map(({ name, text }) => ({ name, text }));
  const place = all.find(({ name }) => name === unfit.name)?.place ?? unfit.name;
  throw new TerminalError('config_invalid', {
    message: `${source}: ${place} ${unfit.why}.`,
    hint: 'A secret is kept out of the log by its value: give it a longer, random one.',
  });
}

/** The spellings of a binary key: base64url, base64, and hex in both cases. */
export function keySpellings(name: string, key: SecretText): readonly KnownText[] {
  const bytes = Buffer.from(key.reveal(), 'base64url');
  const texts = [bytes.toString('base64url'), bytes.toString('base64'), bytes.toString('hex')];
  return [...texts, bytes.toString('hex').toUpperCase()].map((text) => ({ name, text: new SecretText(text) }));
}

/** The passwords in the URLs of a database. One that cannot be told apart from ordinary text is not looked for. */
export const storePasswords = (urls: readonly (string | undefined)[]): readonly KnownText[] =>
  urls.flatMap((url) => {
    const password = url === undefined ? '' : decodeURIComponent(new URL(url).password);
    const known = { name: 'store', value: password };
    return password === '' || unredactable([known]) !== null ? [] : [{ name: 'store', text: new SecretText(password) }];
  });
