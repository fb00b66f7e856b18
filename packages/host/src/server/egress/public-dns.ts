/**
 * Resolves names from data through DNS only. It ignores the machine's hosts file, a slow name server blocks no thread,
 * and an abort cancels the query.
 */
import { Resolver } from 'node:dns/promises';
import { thrownCode } from '../../thrown-code.ts';
import type { Resolve } from './egress.ts';

export const publicDns: Resolve = async (name, signal) => {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const stop = () => resolver.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = [v4, v6].find(isFailure);
    if (found.length > 0 || failure === undefined) return found;
    throw failure.reason;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** A DNS answer that the name or record type does not exist is not a failure. */
const isFailure = (answer: PromiseSettledResult<string[]>): answer is PromiseRejectedResult => {
  if (answer.status === 'fulfilled') return false;
  const code = thrownCode(answer.reason);
  return code !== 'ENOTFOUND' && code !== 'ENODATA';
};
