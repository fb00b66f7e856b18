/** Decides from the parsed URL whether an address from data may be called, before any name is resolved. */
import { isIP } from 'node:net';
import { quoted, TerminalError } from '@cairn/protocol';
import { refusedRange } from './addresses.ts';

/** Maximum URL length. */
const MAX_URL_LENGTH = 2048;

/** Names that always refer to this machine or its local network. */
const localName = /^[^.]*$|\.(localhost|local|internal|home\.arpa)$/;

export interface Target {
  readonly url: URL;
  /** The operator allows this origin. It passes as is, even without TLS or on a private network. */
  readonly isListed: boolean;
  /** The IP address, when the URL has one as its host. */
  readonly address: string | null;
}

/** Throws `http_url_rejected`. `listed` holds the operator's origins. */
export function parseTarget(text: string, listed: ReadonlySet<string>): Target {
  if (text.length > MAX_URL_LENGTH) throw rejected(text, `it is longer than ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) throw rejected(text, 'it is not a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw rejected(text, 'it carries a user name or password');
  url.hash = '';
  const address = literalOf(url.hostname);
  if (listed.has(url.origin)) return { url, isListed: true, address };
  if (url.protocol !== 'https:') throw rejected(text, `it must begin with https:, not ${url.protocol}`);
  const refused = address === null ? null : refusedRange(address);
  if (refused !== null) throw rejected(text, `${address} is ${refused}`);
  const name = url.hostname.replace(/\.+$/, '');
  if (address === null && localName.test(name)) throw rejected(text, `${name} is not a name of the public internet`);
  return { url, isListed: false, address };
}

export const rejected = (url: string, reason: string): TerminalError =>
  new TerminalError('http_url_rejected', {
    message: `${quoted(url, 120)} may not be called: ${reason}.`,
    hint: 'Use a public https address, or have the operator add its origin to egress.allow.',
  });

/** The URL parser has normalised every spelling of an IPv4 address (decimal, octal, hex, short) to dotted decimal. */
function literalOf(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}
