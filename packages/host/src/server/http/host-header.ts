/** Checks the Host header against DNS rebinding, where a foreign page reaches this host under a name it controls. */
import { quoted, TerminalError } from '@cairn/protocol';
import { isLoopback } from '../config/config.ts';

export type CheckHost = (host: string | undefined) => void;

/** On a loopback bind, only local names and the public name pass. On other binds, a proxy has to check the name. */
export function createCheckHost(bind: string, publicUrl: string | undefined): CheckHost {
  if (!isLoopback(bind)) return refuseNone;
  const known = publicUrl === undefined ? null : new URL(publicUrl).hostname;
  return (host) => {
    const name = hostName(host ?? '');
    if (name !== null && (isLoopback(name) || name === known)) return;
    throw new TerminalError('forbidden', {
      message: `This host is not served under the name ${quoted(host ?? '', 100)}.`,
      hint: 'Use 127.0.0.1 or localhost, or set publicUrl in the configuration.',
    });
  };
}

/** HTTP/1.1 requires the header on every bind. */
const refuseNone: CheckHost = (host) => {
  if (host !== undefined) return;
  throw new TerminalError('validation_error', { message: 'The request has no Host header.' });
};

/** The name in a Host header, lower case, without port and brackets; null when it is invalid. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/i.exec(host);
  const name = match?.[1] ?? match?.[2];
  return name === undefined ? null : name.toLowerCase();
}
