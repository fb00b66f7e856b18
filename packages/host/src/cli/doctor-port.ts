/** Checks whether a host can listen on its address, or already does. */
import { createServer } from 'node:net';
import type { Finding } from './doctor-finding.ts';

const subject = 'port';

export async function portFinding({ bind, port }: { readonly bind: string; readonly port: number }): Promise<Finding> {
  if (port === 0) return { subject, state: 'good', text: 'any free port' };
  const code = await listens(port, bind);
  const place = `${bind}:${port}`;
  if (code === null) return { subject, state: 'good', text: `${place} is free` };
  if (code === 'EADDRINUSE' && (await isCairn(bind, port))) {
    return { subject, state: 'good', text: `${place} is in use by a host` };
  }
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program uses it',
    EACCES: 'this user may not use it',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const hint = 'Choose another address with "port" and "bind", or stop the program that uses it.';
  return { subject, state: 'bad', text: `${place}: ${why[code] ?? code}`, hint };
}

/** The error code of an attempt to listen; null on success. */
function listens(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function isCairn(bind: string, port: number): Promise<boolean> {
  const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[bind] ?? (bind.includes(':') ? `[${bind}]` : bind);
  try {
    const response = await fetch(`http://${name}:${port}/.well-known/openwop`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
