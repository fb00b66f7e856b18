/** Reads DIDs: their grammar, and where the document of a `did:web` is. */
import { isIP } from 'node:net';
import { quoted, TerminalError } from '@cairn/protocol';

export interface Did {
  readonly did: string;
  readonly method: 'web' | 'key';
  /** What follows `did:<method>:`. */
  readonly id: string;
}

/** A DID longer than this is refused before it is looked at. */
export const MAX_DID_LENGTH = 512;

const grammar = /^did:([a-z0-9]+):((?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})+)$/;

/** Throws `validation_error` for text that is no DID, and for methods that cannot be resolved here. */
export function parseDid(text: string): Did {
  const [, method, id] = text.length > MAX_DID_LENGTH ? [] : (grammar.exec(text) ?? []);
  if (method === undefined || id === undefined)
    throw notADid(text, 'it has not the form did:<method>:<id>, without a path, query or fragment');
  if (method !== 'web' && method !== 'key')
    throw notADid(text, `the method ${quoted(method, 20)} is none of web and key`);
  return { did: text, method, id };
}

/** A port is `%3A<port>` after the name; further colons separate the parts of a path. */
export function didWebUrl({ did, id }: Did): URL {
  const [host = '', ...path] = id.split(':');
  const [, name, port] = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?:%3[Aa](\d{1,5}))?$/.exec(host) ?? [];
  if (name === undefined) throw notADid(did, 'the host must be a name in lower case, with a port as %3A<port>');
  if (isIP(name) !== 0 || /^(\d+|0x[0-9a-f]*)$/.test(name.split('.').at(-1) ?? ''))
    throw notADid(did, 'the host must be a name, not an address');
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) throw notADid(did, `there is no port ${port}`);
  for (const piece of path) if (!isPathPart(piece)) throw notADid(did, `${quoted(piece, 40)} is not a part of a path`);
  const place = path.length === 0 ? '.well-known' : path.join('/');
  const url = `https://${name}${port === undefined ? '' : `:${Number(port)}`}/${place}/did.json`;
  if (!URL.canParse(url)) throw notADid(did, 'its host is not a host name');
  return new URL(url);
}

/** Refuses what a URL parser would take for steps up or for separators. */
function isPathPart(piece: string): boolean {
  if (piece === '') return false;
  try {
    const plain = decodeURIComponent(piece);
    return plain !== '.' && plain !== '..' && !/[/\\?#%]|\p{Cc}/u.test(plain);
  } catch {
    return false;
  }
}

export const notADid = (did: string, reason: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `${quoted(did, 120)} cannot be resolved: ${reason}.`,
    hint: 'Use did:web:<host> with the host of the document, such as did:web:example.org:agents:desk, or a did:key.',
    details: { field: 'did' },
  });
